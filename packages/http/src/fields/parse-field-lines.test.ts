import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseFieldLines } from './parse-field-lines.ts';

function read(text: string, maxLines = 10): readonly string[] | string {
  const seen: string[] = [];
  const result = parseFieldLines(text, 0, maxLines, {
    field: (...pair) => void seen.push(...pair),
  });
  if (typeof result !== 'string') expect(seen).toEqual(result);
  return result;
}

const name = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,80}$/);
const value = fc.stringMatching(
  /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/,
);
const blanks = fc.stringMatching(/^[\t ]{0,3}$/);

describe('field lines', () => {
  it('keep names and values unchanged, without spaces and tabs around a value', () => {
    const line = fc.tuple(name, blanks, value, blanks);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), (lines) => {
        const text = lines
          .map(([n, before, v, after]) => `${n}:${before}${v}${after}\r\n`)
          .join('');
        expect(read(text)).toEqual(lines.flatMap(([n, , v]) => [n, v]));
      }),
    );
  });

  it.each([
    ['a bare LF', 'A: 1\nB: 2\r\n'],
    ['a bare CR', 'A: 1\rB: 2\r\n'],
    ['two CR', 'A: 1\r\r\n'],
    ['a line without an end', 'A: 1\r\nB: 2'],
    ['a continued line', 'A: 1\r\n 2\r\n'],
    ['no colon', 'A: 1\r\nB\r\n'],
    ['a colon on the next line only', 'A\r\nB: 1\r\n'],
    ['an empty name', ': 1\r\n'],
    ['a blank before the colon', 'A : 1\r\n'],
    ['a NUL', 'A: \0\r\n'],
    ['a DEL', 'A: \x7f\r\n'],
  ])('with %s are malformed', (_case, text) => {
    expect(read(text)).toBe('malformed');
  });

  it('are limited in number', () => {
    expect(read('A: 1\r\n'.repeat(10))).toHaveLength(20);
    expect(read('A: 1\r\n'.repeat(11))).toBe('too_many_lines');
  });

  it('take linear time, well-formed or not', () => {
    const long = `A: ${'x'.repeat(60_000)}`;
    for (let turn = 0; turn < 50; turn += 1) {
      expect(read(`${long}\r\n`)).toHaveLength(2);
      expect(read(`${long}\r`)).toBe('malformed');
    }
  });
});
