import { describe, expect, it } from '@jest/globals';
import type { Statistics } from '../../api/client.ts';
import { withReading } from './live-traffic.ts';
import { trafficOf } from './traffic.ts';

const FROM = Date.UTC(2030, 0, 1);
const time = (afterMs: number) => new Date(FROM + afterMs).toISOString();
const ms = { p50_ms: 1, p95_ms: 2, p99_ms: 3 };
const statistics: Statistics = {
  from: time(0),
  to: time(180_000),
  total: { requests: 180, errors: 9, ...ms },
  steps: [
    { at: time(0), requests: 120, errors: 6, ...ms },
    { at: time(120_000), requests: 60, errors: 3, ...ms },
  ],
  grpc_statuses: [{ grpc_status: 14, requests: 3 }],
  groups: [],
};

describe('the traffic of a period', () => {
  it('has a point for each step, also for those without requests', () => {
    const { points } = trafficOf(statistics, 60, FROM + 180_000);
    expect(points).toEqual([
      { atMs: FROM, requests: 2, errors: 0.1, p50: 1, p95: 2, p99: 3 },
      { atMs: FROM + 60_000, requests: 0, errors: 0, p50: null, p95: null, p99: null },
      { atMs: FROM + 120_000, requests: 1, errors: 0.05, p50: 1, p95: 2, p99: 3 },
    ]);
  });

  it('counts the current minute as long as it has lasted', () => {
    const { points, requestsPerSecond, errorShare } = trafficOf(statistics, 60, FROM + 150_000);
    expect(points.at(-1)).toMatchObject({ requests: 2, errors: 0.1 });
    expect(requestsPerSecond).toBe(180 / 150);
    expect(errorShare).toBe(0.05);
  });

  it('cuts the first step at the begin of the period', () => {
    const late = { ...statistics, from: time(150_000), steps: statistics.steps.slice(1) };
    const [first] = trafficOf(late, 60, FROM + 180_000).points;
    expect(first).toMatchObject({ atMs: FROM + 150_000, requests: 2 });
  });

  it('has the statuses of gRPC calls, for a period and live', () => {
    const { grpc_statuses: counted } = statistics;
    expect(trafficOf(statistics, 60, FROM).grpcStatuses).toBe(counted);
    expect(withReading(undefined, { atMs: FROM, statistics }).grpcStatuses).toBe(counted);
  });

  it('has no error rate without requests', () => {
    const none = { ...statistics, total: { ...statistics.total, requests: 0, errors: 0 } };
    expect(trafficOf(none, 60, FROM).errorShare).toBeNull();
  });
});
