import { expect, it } from '@jest/globals';
import { lonePoints, timeRange } from './chart-options.ts';

it('finds the values that no line leads to', () => {
  expect(lonePoints([1, null, 2, 3, null, 0])).toEqual([0, 5]);
  expect(lonePoints([null, undefined])).toEqual([]);
  expect(lonePoints([7])).toEqual([0]);
});

it('shows the times of the data, and at least a span that ends with the last one', () => {
  expect(timeRange([1000, 2000], 1000, 2000, 120)).toEqual([1000, 2000]);
  expect(timeRange([1000, 1010], 1000, 1010, 120)).toEqual([890, 1010]);
  // uPlot asks with an end that is years later.
  expect(timeRange([1000], 1000, 86_401_000, 120)).toEqual([880, 1000]);
});
