import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { valuesAt } from './json-path.ts';

const routes = [
  { name: 'charges', versions: [{ name: 'v1', weight: 90 }], 'odd key': 1 },
  { name: 'refunds', versions: null },
];

it.each([
  ['$', [routes]],
  ['$[*].name', ['charges', 'refunds']],
  ['{[*].name}', ['charges', 'refunds']],
  ['$[0].versions[0].weight', [90]],
  ['$[-1].name', ['refunds']],
  ['$[5].name', []],
  ['$[0]["odd key"]', [1]],
  ["$[0]['odd key']", [1]],
  ['$..weight', [90]],
  ['$[0].versions[*].*', ['v1', 90]],
  ['$[*].toString', []],
])('%s selects values', (path, expected) => {
  expect(valuesAt(path, routes)).toEqual(expected);
});

it.each(['$[?(@.name)]', '$.a b', '$[1:2]', 'name name', '$.'])('refuses %s', (path) => {
  expect(() => valuesAt(path, routes)).toThrow(/Cannot read .*; a path has names/);
});

it('selects each key of an object by its quoted name, whatever it is', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (key, value) => {
      const quoted = key.replaceAll(/[\\"]/g, '\\$&');
      const data = Object.fromEntries([[key, value]]) as unknown;
      expect(valuesAt(`$["${quoted}"]`, data)).toEqual([value]);
    }),
    { seed: 42 },
  );
});
