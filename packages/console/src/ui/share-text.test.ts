import { expect, it } from '@jest/globals';
import { rateText, shareText } from './share-text.ts';

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
  [0.5, '50 %'],
])('%d of 1 is %s', (share, text) => {
  expect(shareText(share)).toBe(text);
});
