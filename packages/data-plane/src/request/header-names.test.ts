import { expect, it } from '@jest/globals';
import {
  MAX_RECORDED_HEADER_NAME_CHARS,
  MAX_RECORDED_HEADER_NAMES,
} from '@gateway/shared/records/record-bounds';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { headerNames } from './record.ts';

const fieldsOf = (names: readonly string[]) => names.flatMap((name) => [name, 'secret value']);

it('has each name once, in lower case and in order, and no value', () => {
  const fields = fieldsOf(['Host', 'X-Mine', 'Cookie', 'x-mine', 'cookie', 'ACCEPT']);
  expect(headerNames(fields)).toEqual(['host', 'x-mine', 'cookie', 'accept']);
  expect(headerNames([])).toEqual([]);
});

it('is bounded in number and length', () => {
  const many = Array.from({ length: MAX_RECORDED_HEADER_NAMES + 20 }, (_, index) => `x-${index}`);
  expect(headerNames(fieldsOf(many))).toEqual(many.slice(0, MAX_RECORDED_HEADER_NAMES));
  const long = [1, 2, 3, 4, 5, 6].map((letter) => `${letter}`.repeat(200));
  const names = headerNames(fieldsOf(long));
  expect(names).toEqual(long.slice(0, Math.trunc(MAX_RECORDED_HEADER_NAME_CHARS / 200)));
});

it('has no token secret', () => {
  const secret = createTokenSecret();
  const text = headerNames(fieldsOf([`x-${secret}`, 'host'])).join(' ');
  expect(text).toBe('x-[token] host');
});

it('is the same list for requests with the same fields in a row, and never that of other fields', () => {
  const names = ['Host', 'X-Mine'];
  const first = headerNames(fieldsOf(names));
  expect(headerNames(fieldsOf(names))).toBe(first);
  for (const others of [['Host'], ['Host', 'X-Mine', 'Accept'], ['Host', 'X-Yours'], []]) {
    expect(headerNames(fieldsOf(others))).toEqual(others.map((name) => name.toLowerCase()));
    expect(headerNames(fieldsOf(names))).toEqual(first);
  }
});
