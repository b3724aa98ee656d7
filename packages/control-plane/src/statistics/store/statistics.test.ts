import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OUTCOMES, type RequestRecord } from '@gateway/shared/records/record';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import fc from 'fast-check';
import { openTestStore, type TestStore } from '../../../test/store.ts';
import { durationQuantile, QUANTILE_ERROR } from '../duration-histogram.ts';
import type { RouteOrder } from '../route-statistics.ts';
import { addedUp } from '../statistics.ts';
import { bucketStart, segmentsOf } from '../statistics-segments.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';
import { readRouteStatistics, type RouteSums } from './read-route-statistics.ts';
import { readStatistics, type StatisticsQuery } from './read-statistics.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = DAY_MS / 24;
const START_MS = Date.UTC(2030, 5, 15);
const PERIOD_MS = 4 * DAY_MS;
const RECORDS = 3000;

type Filter = Pick<
  StatisticsQuery,
  'environment' | 'route' | 'version' | 'serviceId' | 'statusClass' | 'grpcStatus' | 'outcome'
>;

const records = fc.record({
  offsetMs: fc.oneof(
    fc.nat(PERIOD_MS - 1),
    // The ends of minutes, hours and days.
    fc.nat(4 * 24 * 60 - 1).map((minute) => minute * 60_000),
    fc.nat(95).map((hour) => hour * HOUR_MS + HOUR_MS - 1),
  ),
  environment: fc.constantFrom('production', 'production', 'development', null),
  route: fc.constantFrom('orders', 'orders', 'charges'),
  route_version: fc.constantFrom(null, 'v1', 'v2'),
  service_id: fc.constantFrom('svc_1', 'svc_2'),
  status: fc.constantFrom(200, 201, 304, 404, 500, 503, null),
  grpc_status: fc.constantFrom(null, null, 0, 14),
  outcome: fc.constantFrom(...OUTCOMES),
  kind: fc.constantFrom('request', 'request', 'request', 'mirror'),
  total_ms: fc.oneof(
    fc.double({ min: 0.5, max: 700_000, noNaN: true }),
    fc.integer({ min: 1, max: 200 }),
  ),
});

const filters: fc.Arbitrary<Filter> = fc.record(
  {
    environment: fc.constantFrom('production', 'development'),
    route: fc.constantFrom('orders', 'charges', 'none'),
    version: fc.constantFrom('v1', 'v2'),
    serviceId: fc.constantFrom('svc_1', 'svc_2'),
    statusClass: fc.constantFrom(null, 2, 4, 5),
    grpcStatus: fc.constantFrom(0, 14),
    outcome: fc.constantFrom(...OUTCOMES),
  },
  { requiredKeys: [] },
);

const ERRORS = new Set<string>(['upstream_error', 'upstream_unavailable', 'timeout']);

describe('statistics', () => {
  let store: TestStore;
  let stored: readonly RequestRecord[];

  beforeAll(async () => {
    store = await openTestStore();
    const all = fc.sample(records, RECORDS).map(({ offsetMs, total_ms, ...fields }) => ({
      ...requestRecord(START_MS + offsetMs),
      ...fields,
      timing: { ...timing({}), total_ms },
    }));
    stored = all.filter(({ kind }) => kind === 'request');
    const batches: RequestRecord[][] = [];
    for (let at = 0; at < RECORDS; at += 200) batches.push(all.slice(at, at + 250));
    // Several writers, which overlap, so that many records are stored twice.
    const write = async (own: readonly RequestRecord[][]) => {
      for (const batch of own) await insertRecords(store.db, batch.map(storableRecord));
    };
    await Promise.all([
      write(batches),
      write(batches.toReversed()),
      write(batches.filter((_, index) => index % 2 === 0)),
    ]);
  }, 60_000);
  afterAll(() => store.close());

  function matches(record: RequestRecord, filter: Filter): boolean {
    const { environment, route, version, serviceId, statusClass, grpcStatus, outcome } = filter;
    const ownClass = record.status === null ? null : Math.floor(record.status / 100);
    return (
      (environment === undefined || record.environment === environment) &&
      (route === undefined || record.route === route) &&
      (version === undefined || record.route_version === version) &&
      (serviceId === undefined || record.service_id === serviceId) &&
      (statusClass === undefined || ownClass === statusClass) &&
      (grpcStatus === undefined || record.grpc_status === grpcStatus) &&
      (outcome === undefined || record.outcome === outcome)
    );
  }

  const isError = ({ status, outcome }: RequestRecord) =>
    ERRORS.has(outcome) || (status !== null && status >= 500 && outcome !== 'success');

  function groupOf({ route_version: version, status }: RequestRecord, by: string | undefined) {
    if (by === 'version') return version;
    if (by === undefined || status === null) return null;
    return String(Math.floor(status / 100));
  }

  it('are equal to a count over the records by gRPC status and group, for any period, step and filter', async () => {
    const minutes = PERIOD_MS / 60_000;
    const cases = fc.record({
      from: fc.oneof(
        fc.nat(minutes - 1),
        fc.nat(95).map((hour) => hour * 60),
      ),
      minutes: fc.oneof(fc.integer({ min: 1, max: minutes }), fc.constantFrom(60, 1440, 2880)),
      stepSeconds: fc.constantFrom(undefined, 60, 300, 900, 3600, 21_600, 86_400),
      filter: filters,
      by: fc.constantFrom(undefined, undefined, 'version' as const, 'status_class' as const),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ from, minutes: length, stepSeconds, filter, by }) => {
        const fromMs = START_MS + from * 60_000;
        const toMs = fromMs + length * 60_000;
        const sums = await readStatistics(store.db, {
          ...filter,
          segments: segmentsOf(fromMs, toMs, stepSeconds),
          stepSeconds,
          by,
          environments: undefined,
          routes: undefined,
        });
        const expected = new Map<string, { requests: number; errors: number; ms: number[] }>();
        for (const record of stored) {
          const at = record.received_at_ms;
          if (at < fromMs || at >= toMs || !matches(record, filter)) continue;
          const step = stepSeconds === undefined ? 0 : bucketStart(at, stepSeconds);
          const key = JSON.stringify([step, record.grpc_status, groupOf(record, by)]);
          const sum = expected.get(key) ?? { requests: 0, errors: 0, ms: [] };
          sum.requests += 1;
          if (isError(record)) sum.errors += 1;
          sum.ms.push(record.timing.total_ms);
          expected.set(key, sum);
        }
        const keyOf = ({ atMs, grpcStatus, group }: (typeof sums)[number]) =>
          JSON.stringify([atMs, grpcStatus, group]);
        expect(sums.map(({ atMs }) => atMs)).toEqual(
          sums.map(({ atMs }) => atMs).toSorted((a, b) => a - b),
        );
        expect(new Set(sums.map(keyOf)).size).toBe(sums.length);
        expect(new Map(sums.map((one) => [keyOf(one), [one.requests, one.errors]]))).toEqual(
          new Map([...expected].map(([key, { requests, errors }]) => [key, [requests, errors]])),
        );
        for (const sum of sums) {
          const { durations } = sum;
          const exact = (expected.get(keyOf(sum))?.ms ?? []).toSorted((a, b) => a - b);
          for (const q of [0.5, 0.95, 0.99]) {
            const nearest = exact[Math.max(1, Math.ceil(exact.length * q)) - 1] ?? NaN;
            const off = (durationQuantile(durations, q) ?? NaN) / nearest;
            expect(Math.max(off, 1 / off)).toBeLessThanOrEqual(1 + QUANTILE_ERROR + 1e-9);
          }
        }
      }),
      { numRuns: 150 },
    );
  }, 120_000);

  it('of routes are equal to a count over the records, in each order', async () => {
    const segments = segmentsOf(START_MS + HOUR_MS, START_MS + PERIOD_MS - HOUR_MS, undefined);
    const query = { segments, environments: undefined, routes: undefined, limit: 10 };
    const read = (order: RouteOrder) => readRouteStatistics(store.db, { ...query, order });
    const counted = Map.groupBy(
      stored.filter(
        ({ received_at_ms: at }) => at >= START_MS + HOUR_MS && at < START_MS + PERIOD_MS - HOUR_MS,
      ),
      ({ environment, route }) => JSON.stringify([environment, route]),
    );
    const orders: Record<RouteOrder, (one: RouteSums) => number> = {
      requests: ({ requests }) => requests,
      errors: ({ errors }) => errors,
      error_rate: ({ requests, errors }) => errors / requests,
      p95_ms: ({ durations }) => durationQuantile(durations, 0.95) ?? 0,
    };
    for (const [order, valueOf] of Object.entries(orders)) {
      const sums = await read(order as RouteOrder);
      expect(sums).toHaveLength(counted.size);
      for (const { environment, route, requests, errors, durations } of sums) {
        const own = counted.get(JSON.stringify([environment, route])) ?? [];
        expect([requests, errors]).toEqual([own.length, own.filter(isError).length]);
        expect(durations.reduce((sum, one) => sum + one, 0)).toBe(own.length);
      }
      const values = sums.map(valueOf);
      expect(values).toEqual(values.toSorted((a, b) => b - a));
      expect(await readRouteStatistics(store.db, { ...query, order: 'errors', limit: 2 })).toEqual(
        (await read('errors')).slice(0, 2),
      );
    }
  });

  it('order routes by numbers, not by their digits', async () => {
    const atMs = START_MS + 21 * DAY_MS;
    const of = (route: string, count: number) =>
      Array.from({ length: count }, () =>
        requestRecord(atMs, { route, status: 500, outcome: 'upstream_error' }),
      );
    await insertRecords(store.db, [...of('nine', 9), ...of('ten', 10)].map(storableRecord));
    const segments = segmentsOf(atMs, atMs + 60_000, undefined);
    const query = { segments, environments: undefined, routes: undefined, limit: 10 };
    for (const order of ['requests', 'errors'] as const) {
      const sums = await readRouteStatistics(store.db, { ...query, order });
      expect(sums.map(({ route, requests, errors }) => [route, requests, errors])).toEqual([
        ['ten', 10, 10],
        ['nine', 9, 9],
      ]);
    }
  });

  it('show only what the caller may see', async () => {
    const segments = segmentsOf(START_MS, START_MS + PERIOD_MS, undefined);
    const query = { segments, stepSeconds: undefined };
    const own = await readStatistics(store.db, {
      ...query,
      environments: ['development'],
      routes: ['orders'],
    });
    const seen = stored.filter(
      ({ environment, route }) => environment === 'development' && route === 'orders',
    );
    expect(addedUp(own).requests).toBe(seen.length);
    const none = { ...query, environments: ['nowhere'], routes: undefined };
    expect(await readStatistics(store.db, none)).toEqual([]);
    const byRoute = { segments, order: 'requests', limit: 10 } as const;
    const reach = { environments: ['development'], routes: ['orders'] };
    expect(await readRouteStatistics(store.db, { ...byRoute, ...reach })).toMatchObject([
      { environment: 'development', route: 'orders', requests: seen.length },
    ]);
  });

  it('count requests to routes that do not exist under no route', async () => {
    const atMs = START_MS + 20 * DAY_MS;
    const refused = Array.from({ length: 50 }, (_, index) => ({
      ...requestRecord(atMs),
      route: `guess-${index}`,
      route_version: null,
      service_id: null,
      status: 401,
      outcome: 'rejected' as const,
    }));
    await insertRecords(store.db, refused.map(storableRecord));
    const segments = segmentsOf(atMs, atMs + 60_000, undefined);
    const all = { segments, stepSeconds: undefined, environments: undefined, routes: undefined };
    expect((await readStatistics(store.db, all))[0]?.requests).toBe(50);
    expect(await readStatistics(store.db, { ...all, route: 'guess-1' })).toEqual([]);
    expect(await readRouteStatistics(store.db, { ...all, order: 'errors', limit: 9 })).toEqual([]);
  });
});
