import { describe, expect, it } from '@jest/globals';
import type { Measured } from '../load/paced/load-process.ts';
import { judge } from './latency.ts';
import { longestOf, pausesWithin } from './pauses.ts';

const measured = (p99Ms: number, failed = 0): Measured => {
  return { requests: 1000, failed, failures: {}, p50Ms: 0.2, p99Ms, p999Ms: 9, maxMs: 12 };
};

describe('pauses', () => {
  const pauses = (atMs: number, delayMs: number, waitedMs = 0, collectionMs = 1) => {
    return { atMs, delayMs, waitedMs, collectionMs };
  };

  it('leaves out seconds that are not wholly within a span', () => {
    const all = [pauses(1500, 90), pauses(2500, 4), pauses(3500, 80)];
    expect(pausesWithin(all, [{ fromMs: 1200, toMs: 3000 }])).toEqual([pauses(2500, 4)]);
  });

  it('takes what the process waited for its core from the delay of the same second', () => {
    const all = [pauses(2000, 30, 25), pauses(3000, 12, 2)];
    expect(longestOf(all)).toEqual({ delayMs: 30, ownDelayMs: 10, collectionMs: 1 });
  });

  it('does not report zero if the data plane reported nothing', () => {
    expect(() => longestOf([])).toThrow('no pauses');
  });
});

describe('judge', () => {
  const longest = { delayMs: 60, ownDelayMs: 9, collectionMs: 6 };

  it.each([
    ['a p99 of twice that of nginx', measured(2), longest, true],
    ['a p99 above that', measured(2.1), longest, false],
    ['a pause of the process', measured(1), { ...longest, ownDelayMs: 21 }, false],
    ['a wait for the core', measured(1), { ...longest, delayMs: 90 }, true],
    ['a failed request', measured(1, 1), longest, false],
  ])('judges %s', (_what, gateway, pauses, isKept) => {
    expect(judge({ nginx: measured(1), gateway }, pauses).isKept).toBe(isKept);
  });
});
