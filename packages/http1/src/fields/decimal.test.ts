import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decimal } from './decimal.ts';

test('is the number that the digits stand for, zeros in front or not', () => {
  const digits = fc.stringMatching(/^\d{1,15}$/);
  fc.assert(
    fc.property(digits, (text) => {
      expect(decimal(text)).toBe(Number(text));
    }),
  );
});
