import { describe, expect, it } from '@jest/globals';
import { countWindows, windowOf } from './granted-windows.ts';

const WINDOW_MS = 2000;

describe('the window in which a request was decided', () => {
  it.each([
    { what: 'sent and answered in one', sentMs: 2100, atMs: 3900, resetSeconds: 1, window: 1 },
    { what: 'at the end of the first', sentMs: 3990, atMs: 4010, resetSeconds: 1, window: 1 },
    { what: 'at the start of the second', sentMs: 3990, atMs: 4010, resetSeconds: 2, window: 2 },
    { what: 'late in the second', sentMs: 3500, atMs: 5400, resetSeconds: 1, window: 2 },
    { what: 'early in the second', sentMs: 2500, atMs: 4100, resetSeconds: 2, window: 2 },
    { what: 'late in the first', sentMs: 2500, atMs: 4100, resetSeconds: 1, window: 1 },
  ])('is right for one $what', ({ sentMs, atMs, resetSeconds, window }) => {
    expect(windowOf(sentMs, { atMs, resetSeconds }, WINDOW_MS)).toBe(window);
  });
});

describe('the count of a window', () => {
  it('has the requests that were answered with 200, and those that arrived without an answer', () => {
    const answer = (status: number) => ({ atMs: 2200, status, resetSeconds: 2 });
    const calls = [
      { id: 'a', route: 'r', sentMs: 2100, answer: answer(200) },
      { id: 'b', route: 'r', sentMs: 2100, answer: answer(429) },
      { id: 'c', route: 'r', sentMs: 2100, answer: undefined },
      { id: 'd', route: 'r', sentMs: 2100, answer: undefined },
      { id: 'e', route: 'r', sentMs: 2100, answer: answer(502) },
    ];
    const arrivals = new Map([
      ['a', 2150],
      ['c', 4001],
      ['e', 2150],
    ]);
    expect(countWindows(calls, arrivals, WINDOW_MS)).toEqual([
      { window: 1, offered: 5, granted: 2 },
      { window: 2, offered: 0, granted: 1 },
    ]);
  });
});
