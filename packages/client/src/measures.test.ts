import { expect, it } from '@jest/globals';
import {
  bytesText,
  countText,
  countedText,
  cpuText,
  msText,
  rateText,
  shareText,
} from './measures.ts';

it.each([
  [0, '0 ms'],
  [0.44, '0.4 ms'],
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [999.4, '999 ms'],
  [999.6, '1 s'],
  [1254, '1.25 s'],
  [59_994, '59.99 s'],
  [59_996, '1 min 0 s'],
  [125_000, '2 min 5 s'],
  [71_773_000, '19 h 56 min'],
])('%d ms is %s', (ms, text) => {
  expect(msText(ms)).toBe(text);
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1536, '1.5 KiB'],
  [10 * 1024 * 1024, '10 MiB'],
  [99.94 * 1024 ** 2, '99.9 MiB'],
  [104.3 * 1024 ** 2, '104 MiB'],
  [5 * 1024 ** 4, '5,120 GiB'],
])('a size of %d bytes is %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

it.each([
  [0, '0'],
  [0.001, '< 0.01'],
  [0.034, '0.03'],
  [4.24, '4.2'],
  [99.96, '100'],
  [1250.4, '1,250'],
])('%d per second is %s', (rate, text) => {
  expect(rateText(rate)).toBe(text);
});

it.each([
  [null, '–'],
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.0046, '0.46 %'],
  [0.034, '3.4 %'],
  [0.1648, '16 %'],
  [0.5, '50 %'],
  [0.952, '95.2 %'],
  [0.999, '99.9 %'],
  [0.999_99, '> 99.99 %'],
  [1, '100 %'],
])('%d of 1 is %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});

it.each([
  [0, '0 %'],
  [0.0004, '0 %'],
  [0.0251, '2.5 %'],
  [0.0996, '10 %'],
  [0.4213, '42 %'],
  [0.9999, '100 %'],
  [1.504, '150 %'],
  [12.5, '1,250 %'],
])('CPU use of %d cores is %s', (ratio, text) => {
  expect(cpuText(ratio)).toBe(text);
});

it('a count has commas', () => {
  expect([0, 999, 3198, 1_000_000].map(countText)).toEqual(['0', '999', '3,198', '1,000,000']);
});

it('what is counted is singular only if it is one', () => {
  const texts = [0, 1, 2, 1000].map((count) => countedText(count, 'request'));
  expect(texts).toEqual(['0 requests', '1 request', '2 requests', '1,000 requests']);
});
