import { expect, it } from '@jest/globals';
import { groupByDay, timeOfDay } from './day-groups.ts';

const at = (...parts: [number, number, number, number, number, number, number]) => ({
  received_at: new Date(...parts).toISOString(),
});

it('names each day once, in the order of the rows', () => {
  const rows = [
    at(2030, 5, 2, 0, 0, 1, 5),
    at(2030, 5, 1, 23, 59, 59, 7),
    at(2030, 5, 1, 8, 0, 0, 0),
  ];
  const groups = groupByDay(rows);
  expect(groups.map((group) => group.rows.length)).toEqual([1, 2]);
  expect(groups.flatMap((group) => group.rows)).toEqual(rows);
});

it('has times of day with milliseconds', () => {
  expect(timeOfDay(at(2030, 5, 2, 12, 4, 31, 203).received_at)).toBe('12:04:31.203');
});
