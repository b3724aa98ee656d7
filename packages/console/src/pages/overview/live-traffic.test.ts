import { describe, expect, it } from '@jest/globals';
import type { Statistics } from '../../api/client.ts';
import { withReading, type LiveTraffic, type Reading } from './live-traffic.ts';

const MINUTE = 60_000;
const ms = { p50_ms: 10, p95_ms: 20, p99_ms: 30 };

/** A reading at `atMs`, with the requests of each minute; one of twenty fails. */
function reading(atMs: number, minutes: Readonly<Record<number, number>>): Reading {
  const steps = Object.entries(minutes).map(([minute, requests]) => ({
    at: new Date(Number(minute) * MINUTE).toISOString(),
    requests,
    errors: requests / 20,
    ...ms,
  }));
  const requests = steps.reduce((sum, step) => sum + step.requests, 0);
  const from = steps[0]?.at ?? new Date(0).toISOString();
  const to = new Date(Math.ceil(atMs / MINUTE) * MINUTE).toISOString();
  const total = { requests, errors: requests / 20, ...ms };
  const groups = [{ value: '2xx', ...total, steps }];
  const statistics: Statistics = { from, to, total, steps, grpc_statuses: [], groups };
  return { atMs, statistics };
}

const NONE = reading(1, { 0: 0 });
const after = (...readings: readonly Reading[]): LiveTraffic | undefined =>
  readings.reduce<LiveTraffic | undefined>((live, one) => withReading(live, one, NONE), undefined);

describe('the live traffic', () => {
  it('begins with the mean of the minutes before', () => {
    const live = after(reading(2 * MINUTE + 30_000, { 1: 60, 2: 120 }));
    expect(live?.sums).toMatchObject({ requestsPerSecond: 2, requests: 180, p95: 20 });
  });

  it('is the rate between readings, over ten seconds', () => {
    const at = 2 * MINUTE + 10_000;
    const live = after(reading(at, { 1: 60, 2: 100 }), reading(at + 2000, { 1: 60, 2: 140 }));
    expect(live?.sums.requestsPerSecond).toBe(20);
    const counts = [0, 40, 40, 40, 40, 100];
    const mean = after(
      ...counts.map((count, index) => reading(2 * MINUTE + 1 + index * 2000, { 2: count })),
    );
    expect(mean?.sums.requestsPerSecond).toBe(10);
  });

  it('compares the minutes that both readings have when a minute begins', () => {
    const live = after(
      reading(3 * MINUTE - 1000, { 1: 600, 2: 100 }),
      reading(3 * MINUTE + 1000, { 2: 110, 3: 10 }),
    );
    expect(live?.sums.requestsPerSecond).toBe(10);
  });

  it('does not compare readings before and after a tab was hidden', () => {
    const live = after(
      reading(2 * MINUTE, { 2: 10 }),
      reading(9 * MINUTE + 30_000, { 8: 9, 9: 9 }),
    );
    expect(live?.sums.requestsPerSecond).toBe(18 / 90);
  });

  it('has the minutes before each once, from the history, and the newest from the reading', () => {
    const history = reading(9 * MINUTE + 20_000, { 6: 60, 7: 70, 8: 80, 9: 1 });
    const live = withReading(undefined, reading(9 * MINUTE + 50_000, { 8: 88, 9: 99 }), history);
    expect(live.points.map(({ fromMs, requests }) => [fromMs / MINUTE, requests])).toEqual([
      [6, 60],
      [7, 70],
      [8, 88],
      [9, 99],
    ]);
    expect(live.range).toEqual({
      fromMs: 9 * MINUTE + 50_000 - 30 * MINUTE,
      toMs: 9 * MINUTE + 50_000,
    });
    expect(live.before).toMatchObject({ requests: 211, requestsPerSecond: 211 / 200 });
  });
});
