import { expect, it } from '@jest/globals';
import { shareOfWeight } from './share-of-weight.ts';

it.each([
  [[90, 10], 1, 0.1],
  [[1, 2, 1], 1, 0.5],
  [[0, 5], 0, 0],
  [[0, 0], 0, null],
  [[90, 'ten'], 0, null],
  [[90, -1], 0, null],
])('of the weights %j, that at %d is %d', (weights, index, share) => {
  const versions = weights.map((weight) => ({ name: 'v', weight }));
  expect(shareOfWeight(versions, index)).toBe(share);
});
