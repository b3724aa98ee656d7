import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecimal } from './framing.ts';

test('parseDecimal returns the number that the digits stand for, with leading zeros or without', () => {
  const digits = fc.stringMatching(/^\d{1,15}$/);
  fc.assert(
    fc.property(digits, (text) => {
      expect(parseDecimal(text)).toBe(Number(text));
    }),
  );
});
