import { expect, it } from '@jest/globals';
import { didYouMean, similarNames } from './did-you-mean.ts';

it('finds names that are a typo away, the best first', () => {
  const names = ['charges', 'charge', 'payments', 'refunds', 'op-charges'];
  expect(similarNames('chrages', names)).toEqual(['charges']);
  expect(similarNames('CHARGES', names)).toEqual(['charges']);
  expect(similarNames('pay', names)).toEqual(['payments']);
  expect(similarNames('refnud', names)).toEqual(['refunds']);
});

it('suggests nothing if nothing is like the name', () => {
  expect(didYouMean('orders', ['charges', 'x', ''])).toBe('');
  expect(didYouMean('', ['charges'])).toBe('');
});

it('says what was meant, at most three', () => {
  expect(didYouMean('prodution', ['production'])).toBe('; did you mean production?');
  const many = ['route-1', 'route-2', 'route-3', 'route-4'];
  expect(didYouMean('route-5', many)).toBe('; did you mean route-1, route-2 or route-3?');
});
