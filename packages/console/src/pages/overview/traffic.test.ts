import { describe, expect, it } from '@jest/globals';
import type { Statistics } from '../../api/client.ts';
import { NO_COUNTS } from './status-classes.ts';
import { trafficOf } from './traffic.ts';

const FROM = Date.UTC(2030, 0, 1);
const time = (afterMs: number) => new Date(FROM + afterMs).toISOString();
const ms = { p50_ms: 1, p95_ms: 2, p99_ms: 3 };
const first = { at: time(0), requests: 120, errors: 6, ...ms };
const third = { at: time(120_000), requests: 60, errors: 3, ...ms };
const group = (value: string | null, requests: number, steps: Statistics['steps'] = []) => ({
  value,
  requests,
  errors: 0,
  ...ms,
  steps,
});
const statistics: Statistics = {
  from: time(0),
  to: time(180_000),
  total: { requests: 180, errors: 9, ...ms },
  steps: [first, third],
  grpc_statuses: [{ grpc_status: 14, requests: 3 }],
  groups: [
    group('2xx', 170, [
      { ...first, requests: 111 },
      { ...third, requests: 59 },
    ]),
    group('5xx', 7, [{ ...first, requests: 7 }]),
    group('1xx', 2, [{ ...first, requests: 2 }]),
    group(null, 1, [{ ...third, requests: 1 }]),
  ],
};
const at = (nowMs: number, of = statistics) => trafficOf(of, undefined, 60, nowMs);

describe('the traffic of a period', () => {
  it('has a point for each step, also for those without requests, with its statuses', () => {
    const { points, range } = at(FROM + 180_000);
    expect(range).toEqual({ fromMs: FROM, toMs: FROM + 180_000 });
    expect(points).toMatchObject([
      { fromMs: FROM, requests: 120, errors: 6, p95: 2, statuses: { '2xx': 113, '5xx': 7 } },
      { fromMs: FROM + 60_000, requests: 0, errors: 0, p95: null, statuses: NO_COUNTS },
      { fromMs: FROM + 120_000, requests: 60, statuses: { '2xx': 59, none: 1 } },
    ]);
  });

  it('counts the current minute as long as it has lasted', () => {
    const { points, sums, range } = at(FROM + 150_000);
    expect(points.at(-1)).toMatchObject({ fromMs: FROM + 120_000, toMs: FROM + 150_000 });
    expect(range.toMs).toBe(FROM + 150_000);
    expect(sums.requestsPerSecond).toBe(180 / 150);
  });

  it('has sums with every request in one class', () => {
    const { statuses, requests } = at(FROM + 180_000).sums;
    expect(statuses).toEqual({ ...NO_COUNTS, '2xx': 172, '5xx': 7, none: 1 });
    expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(requests);
  });

  it('cuts the first step at the begin of the period', () => {
    const late = { ...statistics, from: time(150_000), steps: [third] };
    expect(at(FROM + 180_000, late).points).toMatchObject([
      { fromMs: FROM + 150_000, toMs: FROM + 180_000, requests: 60 },
    ]);
  });

  it('has the period before, and the statuses of gRPC calls', () => {
    const before = { ...statistics, total: { requests: 90, errors: 0, ...ms } };
    const traffic = trafficOf(statistics, before, 60, FROM + 180_000);
    expect(traffic.before?.requestsPerSecond).toBe(0.5);
    expect(traffic.grpcStatuses).toBe(statistics.grpc_statuses);
  });
});
