import { expect, it } from '@jest/globals';
import { quotaTone, usedText } from './quota-use.ts';

it('a quota is used up only if nothing is left of it', () => {
  expect([0, 0.79, 0.8, 0.999, 1].map(quotaTone)).toEqual(['free', 'free', 'warn', 'warn', 'bad']);
  expect([0, 0.004, 0.5, 0.999, 1].map(usedText)).toEqual([
    '0 %',
    '< 1 %',
    '50 %',
    '99 %',
    '100 %',
  ]);
});
