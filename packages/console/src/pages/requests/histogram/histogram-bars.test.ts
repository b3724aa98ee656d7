import { expect, it } from '@jest/globals';
import type { Counts } from './counts.ts';
import { barsOf, periodOfBars, totalsOf } from './histogram-bars.ts';

const none = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 };
const counts: Counts = {
  period: { fromMs: 130_000, toMs: 400_000 },
  countedFromMs: 130_000,
  requests: 7,
  stepMs: 60_000,
  steps: [
    { atMs: 120_000, byClass: { ...none, '2xx': 4 } },
    { atMs: 300_000, byClass: { ...none, '2xx': 2, '5xx': 1 } },
  ],
};

it('has a bar for each step of the period, cut at its ends', () => {
  const bars = barsOf(counts);
  expect(bars.map(({ requests }) => requests)).toEqual([4, 0, 0, 3, 0]);
  expect(bars[0]).toMatchObject({ fromMs: 130_000, toMs: 180_000 });
  expect(bars[4]).toMatchObject({ fromMs: 360_000, toMs: 400_000 });
  expect(bars[3]?.parts.map(({ name }) => name)).toEqual(['2xx', '5xx']);
});

it('narrows to what was dragged over, in either direction', () => {
  const bars = barsOf(counts);
  expect(periodOfBars(bars, 3, 1)).toEqual({ fromMs: 180_000, toMs: 360_000 });
  expect(periodOfBars(bars, 1, 3)).toEqual({ fromMs: 180_000, toMs: 360_000 });
  expect(periodOfBars(bars, 2, 2)).toEqual({ fromMs: 240_000, toMs: 300_000 });
  expect(periodOfBars(bars, 2, 9)).toBeUndefined();
});

it('adds up the classes of statuses that there are', () => {
  expect(totalsOf(counts)).toEqual([
    ['2xx', 6],
    ['5xx', 1],
  ]);
});
