import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { groupedNumber, listOf, listText, numberOrText } from './typed-values.ts';

describe('what is typed into a field', () => {
  it.each([
    ['5000', 5000],
    [' 5 ', 5],
    ['-1', -1],
    ['1.5', 1.5],
    ['60,000', 60_000],
    ['1,000,000', 1_000_000],
    ['60,00', '60,00'],
    ['1.50', '1.50'],
    ['1.', '1.'],
    ['5 s', '5 s'],
    ['1e3', '1e3'],
    ['', ''],
    ['99999999999999999999', '99999999999999999999'],
  ])('%j is %j', (text, value) => {
    expect(numberOrText(text)).toBe(value);
  });

  it('is a number that means the same when it is typed as it is shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e12 }), (number) => {
        expect(numberOrText(groupedNumber(number))).toBe(number);
      }),
    );
    expect(groupedNumber(0.1)).toBe('0.1');
  });

  it('is a list', () => {
    expect(listOf('502, 503,  x,', 'comma', true)).toEqual([502, 503, 'x']);
    expect(listOf('a, b\n\nc', 'line', false)).toEqual(['a, b', 'c']);
    expect(listText([502, 503], 'comma')).toBe('502, 503');
    expect(listText('one', 'line')).toBe('one');
    expect(listText(null, 'line')).toBe('');
  });
});
