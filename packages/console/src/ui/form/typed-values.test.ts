import { describe, expect, it } from '@jest/globals';
import { listOf, listText, numberOrText } from './typed-values.ts';

describe('what is typed into a field', () => {
  it.each([
    ['5000', 5000],
    [' 5 ', 5],
    ['-1', -1],
    ['1.5', 1.5],
    ['1.50', '1.50'],
    ['1.', '1.'],
    ['5 s', '5 s'],
    ['1e3', '1e3'],
    ['', ''],
    ['99999999999999999999', '99999999999999999999'],
  ])('%j is %j', (text, value) => {
    expect(numberOrText(text)).toBe(value);
  });

  it('is a list', () => {
    expect(listOf('502, 503,  x,', 'comma', true)).toEqual([502, 503, 'x']);
    expect(listOf('a, b\n\nc', 'line', false)).toEqual(['a, b', 'c']);
    expect(listText([502, 503], 'comma')).toBe('502, 503');
    expect(listText('one', 'line')).toBe('one');
    expect(listText(null, 'line')).toBe('');
  });
});
