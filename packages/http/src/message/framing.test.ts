import { cpuMsOf } from '@gateway/shared/test/cpu-time';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { codedFraming, parseDecimal } from './framing.ts';

test('parseDecimal returns the number that the digits stand for, with leading zeros or without', () => {
  const digits = fc.stringMatching(/^\d{1,15}$/);
  fc.assert(
    fc.property(digits, (text) => {
      expect(parseDecimal(text)).toBe(Number(text));
    }),
  );
});

test.each([
  ['chunked', 'chunked'],
  ['gzip, chunked', 'unsupported'],
  ['gzip ,\tdeflate,chunked', 'unsupported'],
  ['chunked, chunked', 'unknown'],
  ['chunked, gzip, chunked', 'unknown'],
  ['gzip, chunked, chunked', 'unknown'],
  ['chunked, gzip', 'unknown'],
  ['gzip', 'unknown'],
  ['', 'unknown'],
  [', chunked', 'unknown'],
  ['gzip,, chunked', 'unknown'],
  ['gzip, chunked,', 'unknown'],
  ['gzip, chunked;q=1', 'unknown'],
  ['gzip\u000b, chunked', 'unknown'],
  ['chunkedx, chunked', 'unsupported'],
])('the framing of the transfer coding %j is %s', (coding, kind) => {
  expect(codedFraming(coding).kind).toBe(kind);
});

test('a long transfer coding takes linear time', () => {
  for (const part of ['a, ', 'a ', ' ', 'a', ',', 'chunked, ']) {
    expect(cpuMsOf(() => codedFraming(part.repeat(60_000)))).toBeLessThan(500);
  }
});
