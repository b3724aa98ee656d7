import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bearerCredential } from './headers.ts';

test('the credential follows the scheme, in upper or lower case, and any number of spaces', () => {
  for (const field of ['Bearer abc', 'bearer abc', 'BEARER   abc', 'Bearer abc  ']) {
    expect(bearerCredential(field)).toBe('abc');
  }
});

test.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Bearer  ',
  'Basic abc',
  'Bearerabc',
  ' Bearer abc',
])('%j has no credential', (field) => {
  expect(bearerCredential(field)).toBeUndefined();
});

test('a field with more than one credential has none, in every notation', () => {
  const part = fc.stringMatching(/^[a-z, \t=]{0,6}$/);
  fc.assert(
    fc.property(part, (rest) => {
      const expected = /^ *([^\s,]+) *$/.exec(rest)?.[1];
      expect(bearerCredential(`Bearer ${rest}`)).toBe(expected);
      expect(bearerCredential(`bearer ${rest}`)).toBe(expected);
    }),
  );
});
