import { describe, expect, it } from '@jest/globals';
import { LatencyProbe, toleratedMs, untilProbeMs } from './latency-probe.ts';

/** Completes windows with these latencies, 200 ms apart, until there is a result. */
function probe(used: number, unloadedMs: number, latenciesMs: readonly number[]) {
  const one = new LatencyProbe(used, 1, unloadedMs, 0);
  const limits = [one.limit];
  for (const [index, latencyMs] of latenciesMs.entries()) {
    const result = one.measured(latencyMs, (index + 1) * 200);
    if (result !== undefined) return { result, limits, lowestMs: one.lowestMs };
    limits.push(one.limit);
  }
  return { limits, lowestMs: one.lowestMs };
}

describe('a probe of the unloaded latency', () => {
  it('confirms the latency that was known with one step, and lasts long enough for the others', () => {
    expect(probe(40, 10, [11, 12])).toEqual({
      result: 'confirmed',
      limits: [20, 20],
      lowestMs: 11,
    });
  });

  it('takes further steps while they make responses faster', () => {
    expect(probe(40, 10, [40, 20, 11])).toEqual({
      result: 'confirmed',
      limits: [20, 10, 5],
      lowestMs: 11,
    });
    expect(probe(40, 10, [40, 20, 19])).toEqual({
      result: 'slower',
      limits: [20, 10, 5],
      lowestMs: 19,
    });
  });

  it('finds that the upstream is faster than was known, and steps down for it too', () => {
    expect(probe(8, 40, [20, 10, 5, 5])).toEqual({
      result: 'faster',
      limits: [4, 2, 1],
      lowestMs: 5,
    });
  });

  it('ends at the least limit', () => {
    expect(probe(2, 10, [100, 100])).toEqual({ result: 'slower', limits: [1, 1], lowestMs: 100 });
  });

  it('waits until the queue of all data planes has gone, and then for one more latency', () => {
    const one = new LatencyProbe(40, 1, 10, 1000);
    expect(one.drained(30, 1010)).toBe(1150);
    one.measured(30, 1300);
    expect(one.isDraining).toBe(true);
    expect(one.drained(50, 1320)).toBe(1350);
    expect(one.isDraining).toBe(false);
  });

  it('begins at the same wall time in all data planes, less often for slow services', () => {
    expect(untilProbeMs(10, 123_456_789_000)).toBe(1000);
    expect(untilProbeMs(10, 123_456_790_000)).toBe(10_000);
    expect(untilProbeMs(250, 29_000)).toBe(1000);
    expect(untilProbeMs(251, 29_000)).toBe(11_000);
    expect(untilProbeMs(5000, 29_000)).toBe(640_000 - 29_000);
  });

  it('tolerates half of the latency, and at least two milliseconds', () => {
    expect([0.1, 4, 10, 1000].map(toleratedMs)).toEqual([2.1, 6, 15, 1500]);
  });
});
