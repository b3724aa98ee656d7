import { expect, it } from '@jest/globals';
import { lonePoints } from './chart-options.ts';

it('finds the values that no line leads to', () => {
  expect(lonePoints([1, null, 2, 3, null, 0])).toEqual([0, 5]);
  expect(lonePoints([null, undefined])).toEqual([]);
  expect(lonePoints([7])).toEqual([0]);
});
