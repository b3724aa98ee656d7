import { expect, test } from '@jest/globals';
import {
  formatField,
  formatLine,
  readableFormats,
  readFormatLine,
  requireFormatLine,
} from './formats.ts';

test('a reader accepts its newest format and the one before it', () => {
  expect(readableFormats(1)).toEqual([1]);
  expect(readableFormats(7)).toEqual([6, 7]);
  const accepted = [5, 6, 7, 8].filter((format) => formatField(7).safeParse(format).success);
  expect(accepted).toEqual([6, 7]);
});

test.each([
  [99, 'must be 1, not 99'],
  ['1', 'must be 1'],
  [undefined, 'must be 1'],
])('the format %j is refused with the numbers that are accepted', (format, message) => {
  expect(formatField(1).safeParse(format).error?.issues[0]?.message).toBe(message);
});

test('the first line of a file is read back', () => {
  const line = formatLine('gateway-test', 12);
  const file = Buffer.from(`${line}content`);
  const found = { format: 12, end: line.length };
  expect(readFormatLine(file, 'gateway-test', 13)).toEqual({ ...found, readable: true });
  expect(readFormatLine(file, 'gateway-test', 11)).toEqual({ ...found, readable: false });
  expect(file.toString('utf8', requireFormatLine(file, 'gateway-test', 12))).toBe('content');
  expect(() => requireFormatLine(file, 'gateway-test', 14)).toThrow(
    'unknown format 12; this version reads format 13 and 14',
  );
});

test.each(['', 'gateway-test', 'gateway-test 1', 'gateway-test x\n', 'gateway-other 1\n'])(
  'a file that begins with %j has no such line',
  (text) => {
    expect(readFormatLine(Buffer.from(text), 'gateway-test', 1)).toBeUndefined();
    expect(() => requireFormatLine(Buffer.from(text), 'gateway-test', 1)).toThrow(
      'not a gateway-test file, or truncated',
    );
  },
);
