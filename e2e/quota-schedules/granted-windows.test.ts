import { describe, expect, it } from '@jest/globals';
import { countWindows, windowsOf } from './granted-windows.ts';

const WINDOW_MS = 2000;

describe('the windows in which a request may have been decided', () => {
  it.each([
    {
      what: 'received and decided in one',
      receivedMs: 2100,
      gatewayMs: 1800,
      resetSeconds: 1,
      windows: [1],
    },
    {
      what: 'at the end of the first',
      receivedMs: 3990,
      gatewayMs: 20,
      resetSeconds: 1,
      windows: [1],
    },
    {
      what: 'at the start of the second',
      receivedMs: 3990,
      gatewayMs: 20,
      resetSeconds: 2,
      windows: [2],
    },
    {
      what: 'late in the second',
      receivedMs: 3500,
      gatewayMs: 1900,
      resetSeconds: 1,
      windows: [1, 2],
    },
    {
      what: 'early in the second',
      receivedMs: 2500,
      gatewayMs: 1600,
      resetSeconds: 2,
      windows: [1, 2],
    },
    { what: 'late in the first', receivedMs: 2500, gatewayMs: 1600, resetSeconds: 1, windows: [1] },
  ])('are right for one $what', ({ windows, ...answer }) => {
    expect(windowsOf(answer, WINDOW_MS)).toEqual(windows);
  });
});

describe('the count of a window', () => {
  it('has the requests that were answered with 200, and those that arrived without an answer', () => {
    const answer = (status: number) => ({
      receivedMs: 2100,
      gatewayMs: 90,
      status,
      resetSeconds: 2,
    });
    const calls = [
      { id: 'a', route: 'r', sentMs: 2100, answer: answer(200) },
      { id: 'b', route: 'r', sentMs: 2100, answer: answer(429) },
      { id: 'c', route: 'r', sentMs: 2100, answer: undefined },
      { id: 'd', route: 'r', sentMs: 2100, answer: undefined },
      { id: 'e', route: 'r', sentMs: 2100, answer: answer(502) },
      { id: 'f', route: 'r', sentMs: 4000, answer: undefined },
    ];
    const arrivals = new Map([
      ['a', 2150],
      ['c', 4001],
      ['e', 2150],
      ['f', 4100],
    ]);
    expect(countWindows(calls, arrivals, WINDOW_MS)).toEqual([
      { window: 1, offered: 5, granted: 2, uncertain: 0 },
      // The one that arrived long after it was sent may have been granted in the window before.
      { window: 2, offered: 1, granted: 1, uncertain: 1 },
    ]);
  });
});
