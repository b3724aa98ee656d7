import { expect, it } from '@jest/globals';
import { markersWithin } from './chart-markers.ts';
import { stackedValues } from './stacked-bars.ts';

it('stands bars on those of later series', () => {
  const stacked = stackedValues([
    [1, 0, null],
    [2, 3, 4],
    [10, null, 20],
  ]);
  expect(stacked).toEqual([
    [13, 3, 24],
    [12, 3, 24],
    [10, 0, 20],
  ]);
  expect(stackedValues([])).toEqual([]);
});

it('finds the markers that are nearest to a time', () => {
  const markers = [0, 14, 15, 26, 99].map((at) => ({ at, label: String(at) }));
  const times = [10, 20, 30];
  const found = (index: number) => markersWithin(markers, times, index).map(({ at }) => at);
  expect([0, 1, 2, 3].map(found)).toEqual([[0, 14], [15], [26, 99], []]);
});
