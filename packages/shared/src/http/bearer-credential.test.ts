import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bearerCredential } from './headers.ts';

test('the credential is what follows the scheme, in any case, after any blanks', () => {
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
])('there is none in %j', (field) => {
  expect(bearerCredential(field)).toBeUndefined();
});

test('a field that holds more than one credential holds none, written one way or the other', () => {
  const part = fc.stringMatching(/^[a-z, \t=]{0,6}$/);
  fc.assert(
    fc.property(part, (rest) => {
      const expected = /^ *([^\s,]+) *$/.exec(rest)?.[1];
      expect(bearerCredential(`Bearer ${rest}`)).toBe(expected);
      expect(bearerCredential(`bearer ${rest}`)).toBe(expected);
    }),
  );
});
