import { expect, it } from '@jest/globals';

const { fits } = (await import(new URL('node-runtime.mjs', import.meta.url).href)) as {
  readonly fits: (version: string, pinned: string) => boolean;
};

it.each([
  ['24.21.0', true],
  ['24.21.1', true],
  ['24.22.0', true],
  ['24.20.9', false],
  ['24.3.0', false],
  ['20.19.5', false],
  ['25.9.0', false],
  ['26.12.1', false],
])('with Node 24.21.0 pinned, Node %s of the user fits: %s', (version, expected) => {
  expect(fits(version, '24.21.0')).toBe(expected);
});
