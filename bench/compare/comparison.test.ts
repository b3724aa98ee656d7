import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from '../measure/round.ts';
import { medianInterval } from '../measure/statistics.ts';
import { formatComparison } from './comparison.ts';

function round(cpuUsPerRequest: number): RoundResult {
  return {
    units: 1000,
    durationUs: 1e6,
    failed: 0,
    requestsPerSecond: 1e6 / cpuUsPerRequest,
    cpuUsPerRequest,
    p50Us: 500,
    p99Us: 1500,
    residentBytes: 100e6,
    foreignShare: 0.01,
  };
}

describe('formatComparison', () => {
  it('shows the low figures of both checkouts, with their ratios', () => {
    const there = [round(20), round(40), round(20), round(30)];
    const here = [round(21), round(44), round(22), round(30)];
    const [, , row] = formatComparison([{ name: 'gateway', there, here }]).split('\n');
    expect(row?.replaceAll(/\s+/g, ' ')).toBe(
      '| gateway | 20.0 | 21.0 | 1.050 | 25.0 | 26.0 | 1.040 | 1.075 (NaN to NaN) | 100 | 100 |',
    );
  });

  // The ranks are those of published tables: 1 and 6 of 6, 4 and 12 of 15, 10 and 21 of 30.
  it.each([
    [5, NaN, NaN],
    [6, 1, 6],
    [15, 4, 12],
    [30, 10, 21],
  ])('has the interval of the median of %i pairs', (count, low, high) => {
    const values = Array.from({ length: count }, (_, index) => index + 1);
    expect(medianInterval(values.toReversed())).toEqual([low, high]);
  });
});
