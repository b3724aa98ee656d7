import { expect, it } from '@jest/globals';
import { msText } from './ms-text.ts';

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
])('%d is %s', (ms, text) => {
  expect(msText(ms)).toBe(text);
});
