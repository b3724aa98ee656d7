import { describe, expect, it } from '@jest/globals';
import type { Statistics } from '../../api/client.ts';
import { withReading, type LiveTraffic, type Reading } from './live-traffic.ts';

const MINUTE = 60_000;
const ms = { p50_ms: 10, p95_ms: 20, p99_ms: 30 };

/** A reading after `atMs`, with the requests of each minute; one of twenty fails. */
function reading(atMs: number, minutes: Readonly<Record<number, number>>): Reading {
  const steps = Object.entries(minutes).map(([minute, requests]) => ({
    at: new Date(Number(minute) * MINUTE).toISOString(),
    requests,
    errors: requests / 20,
    ...ms,
  }));
  const requests = steps.reduce((sum, step) => sum + step.requests, 0);
  const from = steps[0]?.at ?? new Date(0).toISOString();
  const total = { requests, errors: requests / 20, ...ms };
  const statistics: Statistics = { from, to: from, total, steps, grpc_statuses: [], groups: [] };
  return { atMs, statistics };
}

const after = (...readings: readonly Reading[]): LiveTraffic | undefined =>
  readings.reduce<LiveTraffic | undefined>(withReading, undefined);

describe('the live traffic', () => {
  it('begins with the mean of the minutes before', () => {
    const live = after(reading(2 * MINUTE + 30_000, { 1: 60, 2: 120 }));
    expect(live).toMatchObject({ requestsPerSecond: 2, errorShare: 0.05, p95: 20 });
    expect(live?.points).toMatchObject([{ requests: null, errors: null, p95: 20 }]);
  });

  it('has the requests between two readings for each second', () => {
    const at = 2 * MINUTE + 10_000;
    const live = after(reading(at, { 1: 60, 2: 100 }), reading(at + 2000, { 1: 60, 2: 140 }));
    expect(live?.points.at(-1)).toMatchObject({ requests: 20, errors: 1 });
    expect(live?.requestsPerSecond).toBe(20);
  });

  it('compares the minutes that both readings have when a minute begins', () => {
    const live = after(
      reading(3 * MINUTE - 1000, { 1: 600, 2: 100 }),
      reading(3 * MINUTE + 1000, { 2: 110, 3: 10 }),
    );
    expect(live?.points.at(-1)).toMatchObject({ requests: 10 });
  });

  it('is the mean of ten seconds', () => {
    const at = 2 * MINUTE;
    const counts = [0, 40, 40, 40, 40, 100];
    const live = after(...counts.map((count, index) => reading(at + index * 2000, { 2: count })));
    expect(live?.points.at(-1)).toMatchObject({ requests: 30 });
    expect(live?.requestsPerSecond).toBe(10);
  });

  it('leaves a gap when the tab was hidden, and keeps five minutes', () => {
    const hidden = after(reading(2 * MINUTE, { 2: 10 }), reading(9 * MINUTE, { 8: 10, 9: 10 }));
    expect(hidden?.points.at(-1)).toMatchObject({ requests: null });
    const many = Array.from({ length: 200 }, (_none, index) => reading(index * 2000, { 0: index }));
    expect(after(...many)?.points).toHaveLength(150);
  });
});
