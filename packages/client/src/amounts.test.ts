import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  amountFault,
  amountRule,
  amountText,
  apiAmountText,
  isAmountUnit,
  parseAmount,
  unitNames,
  type AmountUnit,
} from './amounts.ts';

const UNITS: readonly AmountUnit[] = ['ms', 'seconds', 'bytes', 'bytes per second'];
const anyUnit = fc.constantFrom(...UNITS);
/** A day in ms, and more than any size. */
const anyAmount = fc.oneof(
  fc.integer({ min: 0, max: 86_400_000 }),
  fc.integer({ min: 0, max: 2 ** 40 }),
  fc
    .tuple(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(1000, 60_000, 1024, 1024 ** 2))
    .map(([count, size]) => count * size),
);

describe('an amount', () => {
  it.each<[string, AmountUnit, number]>([
    ['10000', 'ms', 10_000],
    ['500ms', 'ms', 500],
    ['1.5s', 'ms', 1500],
    [' 1M ', 'ms', 60_000],
    ['2 h', 'ms', 7_200_000],
    ['1m30s', 'ms', 90_000],
    ['2 min 5 s', 'ms', 125_000],
    ['1,234 ms', 'ms', 1234],
    ['1.005 s', 'ms', 1005],
    ['60', 'seconds', 60],
    ['1 d', 'seconds', 86_400],
    ['0.5 min', 'seconds', 30],
    ['10 MiB', 'bytes', 10_485_760],
    ['64KB', 'bytes', 64_000],
    ['64Ki', 'bytes', 65_536],
    ['1.5 gib', 'bytes', 1_610_612_736],
    ['10,485,760 bytes', 'bytes', 10_485_760],
    ['1 KiB/s', 'bytes per second', 1024],
    ['1 KB per second', 'bytes per second', 1000],
    ['500', 'bytes per second', 500],
  ])('%j in %s is %d', (text, unit, amount) => {
    expect(parseAmount(text, unit)).toBe(amount);
  });

  it.each<[string, AmountUnit]>([
    ['', 'ms'],
    ['soon', 'ms'],
    ['-1', 'ms'],
    ['1e3', 'ms'],
    ['1,5 s', 'ms'],
    ['0.5', 'ms'],
    ['1 30s', 'ms'],
    ['10 MiB', 'ms'],
    ['1500ms', 'seconds'],
    ['10m', 'bytes'],
    ['64K', 'bytes'],
    ['0.1 bytes', 'bytes'],
    ['1 KiB/m', 'bytes per second'],
    ['99999999999999999999', 'bytes'],
    ['999999999999999 GiB', 'bytes'],
  ])('%j in %s is wrong', (text, unit) => {
    expect(parseAmount(text, unit)).toBeUndefined();
  });

  it.each<[number, AmountUnit, string]>([
    [0, 'ms', '0 ms'],
    [250, 'ms', '250 ms'],
    [1234, 'ms', '1.234 s'],
    [10_000, 'ms', '10 s'],
    [90_000, 'ms', '90 s'],
    [300_000, 'ms', '5 min'],
    [86_400_000, 'ms', '24 h'],
    [0, 'seconds', '0 s'],
    [60, 'seconds', '1 min'],
    [86_399, 'seconds', '86,399 s'],
    [0, 'bytes', '0 bytes'],
    [1, 'bytes', '1 byte'],
    [1023, 'bytes', '1,023 bytes'],
    [1536, 'bytes', '1.5 KiB'],
    [64_000, 'bytes', '64 KB'],
    [1_024_000, 'bytes', '1,000 KiB'],
    [10_485_760, 'bytes', '10 MiB'],
    [1024, 'bytes per second', '1 KiB/s'],
    [0, 'bytes per second', '0 bytes/s'],
  ])('of %d %s is shown as %s', (amount, unit, text) => {
    expect(amountText(amount, unit)).toBe(text);
  });

  it('that is shown means the same when it is typed, in the best unit and in that of the API', () => {
    fc.assert(
      fc.property(anyAmount, anyUnit, (amount, unit) => {
        expect(parseAmount(amountText(amount, unit), unit)).toBe(amount);
        expect(parseAmount(apiAmountText(amount, unit), unit)).toBe(amount);
        expect(parseAmount(String(amount), unit)).toBe(amount);
      }),
    );
  });

  it('is a safe whole number, or no amount, whatever is typed', () => {
    const typed = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[\d.,]{1,20} ?(?:ms|s|m|h|d|b|ki?b|mi?b|gi?b)$/),
    );
    fc.assert(
      fc.property(typed, anyUnit, (text, unit) => {
        const amount = parseAmount(text, unit);
        expect(amount === undefined || (Number.isSafeInteger(amount) && amount >= 0)).toBe(true);
      }),
    );
  });

  it('has a rule that names its bounds and examples, which it takes', () => {
    expect(amountRule('ms', { min: 1, max: 300_000 })).toBe(
      'must be a time from 1 ms to 5 min, such as 500ms or 1m',
    );
    expect(amountRule('bytes')).toBe('must be a size, such as 64KB or 10 MiB');
    for (const unit of UNITS) {
      const examples = (amountRule(unit).split('such as ')[1] ?? '').split(' or ');
      for (const one of examples)
        expect([one, typeof parseAmount(one, unit)]).toEqual([one, 'number']);
    }
  });

  it('has the rule in place of what the API says of its bounds, and nothing else', () => {
    const bounds = { min: 1, max: 300_000 };
    expect(amountFault('must be a whole number from 1 to 300000', 'ms', bounds)).toBe(
      amountRule('ms', bounds),
    );
    expect(amountFault('must be at most interval_ms', 'ms', bounds)).toBe(
      'must be at most interval_ms',
    );
  });

  it('takes each of the units that are named', () => {
    for (const unit of UNITS) {
      for (const name of unitNames(unit)) {
        expect([name, typeof parseAmount(`3000 ${name}`, unit)]).toEqual([name, 'number']);
      }
    }
  });

  it('is in a unit with larger ones, not in percent', () => {
    expect(UNITS.every(isAmountUnit)).toBe(true);
    expect([undefined, '%'].some(isAmountUnit)).toBe(false);
  });
});
