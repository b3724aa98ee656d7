import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalText, thousandthsText, threeDigits } from './decimal-text.ts';

describe('the decimal text of a number', () => {
  it('is that of String', () => {
    const numbers = fc.oneof(
      fc.nat({ max: 1_000_000 }),
      fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      fc.double(),
      fc.constantFrom(0, 999, 1000, 1001, 999_999, 1_000_000, 2 ** 31, Number.MAX_SAFE_INTEGER),
    );
    fc.assert(
      fc.property(numbers, (value) => {
        expect(decimalText(value)).toBe(String(value));
      }),
    );
  });

  it('has leading zeros where three digits are wanted', () => {
    const wanted = [0, 7, 10, 99, 100, 999];
    expect(wanted.map(threeDigits)).toEqual(['000', '007', '010', '099', '100', '999']);
  });

  it('has three decimals where a number of thousandths is wanted', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(3000), fc.nat()), (value) => {
        expect(thousandthsText(value)).toBe((value / 1000).toFixed(3));
      }),
    );
  });
});
