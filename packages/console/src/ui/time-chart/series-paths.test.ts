import { expect, it } from '@jest/globals';
import { barsPath, largestStack, linePath, stackBases } from './series-paths.ts';

const steps = [0, 1, 2].map((index) => ({ fromMs: index * 10, toMs: (index + 1) * 10 }));
const range = { fromMs: 0, toMs: 30 };

it('stands bars on each other, whatever is missing', () => {
  const series = [
    [1, null, 2],
    [3, 4, null],
    [1, 1, 1],
  ];
  expect(stackBases(series)).toEqual([
    [0, 0, 0],
    [1, 0, 2],
    [4, 4, 2],
  ]);
  expect(largestStack(series)).toBe(5);
  expect(largestStack([])).toBe(0);
});

it('draws a bar for each value above 0, from its base up', () => {
  const path = barsPath([5, 0, 10], [5, 0, 0], steps, range, 10);
  expect(path.match(/M/g)).toHaveLength(2);
  expect(path).toMatch(/^M26\.67 50v-50h280v50z/);
});

it('leaves a gap in a line where nothing is known, and shows a value that stands alone', () => {
  expect(linePath([1, 2, null], steps, range, 2)).toBe('M166.67 50L500 0');
  expect(linePath([null, 2, null], steps, range, 2)).toBe('M360 0h280');
  expect(linePath([0, 0, 0], steps, range, 0)).toBe('');
});
