import { describe, expect, it } from '@jest/globals';
import { stepsOf, versionSeries } from './version-series.ts';

const at = (minute: number) => `2026-03-01T09:0${minute}:00.000Z`;
const ms = (minute: number) => Date.parse(at(minute));
const durations = { p50_ms: 1, p95_ms: 2, p99_ms: 3 };
const group = (value: string | null, ...minutes: number[]) => ({
  value,
  requests: minutes.length,
  errors: 0,
  ...durations,
  steps: minutes.map((minute) => ({ at: at(minute), requests: 4, errors: 1, ...durations })),
});

describe('the lines of versions', () => {
  const { range, steps } = stepsOf({ from: at(1), to: at(4) }, 60, ms(3) + 30_000);

  it('have each step of the period up to now', () => {
    expect(range).toEqual({ fromMs: ms(1), toMs: ms(3) + 30_000 });
    expect(steps.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
      [ms(1), ms(2)],
      [ms(2), ms(3)],
      [ms(3), ms(3) + 30_000],
    ]);
  });

  it('have a gap where a version has no requests, and are of the first five versions', () => {
    const groups = [group('v2', 1, 3), group(null, 2)];
    const share = versionSeries(groups, ['v1', 'v2'], steps, (one) => one.errors / one.requests);
    expect(share).toEqual([
      { key: 'v1', name: 'v1', tone: 'second', values: [null, null, null] },
      { key: 'v2', name: 'v2', tone: 'third', values: [0.25, null, 0.25] },
    ]);
    const many = Array.from({ length: 7 }, (_none, index) => `v${index}`);
    expect(versionSeries([], many, steps, () => 1)).toHaveLength(5);
  });
});
