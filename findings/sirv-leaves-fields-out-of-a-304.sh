#!/usr/bin/env bash
# Version:  sirv 3.0.2, Node.js 26.10.0
# Expected: the header fields that the option `setHeaders` sets are on each response for a file, on a 304 too: a Cache-Control
#           that a 200 would have must be on the 304, and a browser replaces the fields of its copy with those of the 304
# Seen:     a 304 has none of them. A page whose Content-Security-Policy is set there, in a server whose other responses have a
#           stricter one, is shown without its styles and scripts when it is loaded again
# Source:   https://github.com/lukeed/sirv/tree/master/packages/sirv#setheaders ("a function that is called... to set custom
#           headers"); RFC 9110 section 15.4.5 (what a 304 must have); RFC 9111 section 3.2 (the update of stored fields)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{}' >package.json
npm install --silent --no-audit --no-fund --no-save sirv@3.0.2
mkdir public
echo '<h1>page</h1>' >public/page.html
cat >serve.mjs <<'EOF'
import { once } from 'node:events';
import { createServer } from 'node:http';
import sirv from 'sirv';

const serve = sirv('public', {
  etag: true,
  setHeaders(response) {
    response.setHeader('content-security-policy', "script-src 'self'");
    response.setHeader('cache-control', 'no-cache');
  },
});
const server = createServer((request, response) => {
  response.setHeader('content-security-policy', "default-src 'none'");
  serve(request, response);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/page`;
const first = await fetch(url);
await first.text();
const again = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') } });
const fields = ['content-security-policy', 'cache-control'];
for (const response of [first, again]) {
  console.log(response.status, ...fields.map((name) => `${name}: ${response.headers.get(name)};`));
}
const policies = [first, again].map(({ headers }) => headers.get(fields[0]));
const seen = policies[0] === "script-src 'self'" && policies[1] === "default-src 'none'";
server.close();
process.exitCode = seen && again.headers.get(fields[1]) === null ? 0 : 1;
EOF
node serve.mjs
