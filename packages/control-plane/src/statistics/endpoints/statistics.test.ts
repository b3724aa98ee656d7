import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import type { RequestRecord } from '@gateway/shared/records/record';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('GET /v1/stats', () => {
  let api: TestApi;
  let nowMs: number;

  beforeAll(async () => {
    api = await startTestApi();
    nowMs = api.clock.nowMs();
    const at = (beforeMs: number, changes: Partial<RequestRecord> = {}) =>
      storableRecord(requestRecord(nowMs - beforeMs, changes));
    const slow = timing({ upstream_ms: 99 });
    await insertRecords(api.db, [
      at(5 * MINUTE_MS),
      at(5 * MINUTE_MS, { timing: slow }),
      at(35 * MINUTE_MS, { status: 502, outcome: 'upstream_unavailable' }),
      at(35 * MINUTE_MS, { environment: 'development', route: 'other' }),
      at(2 * HOUR_MS),
      at(26 * HOUR_MS, { grpc_status: 0 }),
      at(26 * HOUR_MS, { grpc_status: 14, outcome: 'upstream_error' }),
      at(27 * HOUR_MS, { grpc_status: 14, outcome: 'upstream_error' }),
      at(27 * HOUR_MS, { grpc_status: 5 }),
      at(27 * HOUR_MS),
      at(31 * 24 * HOUR_MS),
    ]);
  });
  afterAll(() => api.close());

  const stats = (query = '', token?: string): Promise<Answer> =>
    api.call('GET', `/v1/stats${query}`, token === undefined ? {} : { token });
  const time = (beforeMs: number) => encodeURIComponent(new Date(nowMs - beforeMs).toISOString());
  const totalOf = ({ json }: Answer) => json.data?.['total'] as Record<string, number | null>;

  it('counts the last hour by default, with errors and percentiles', async () => {
    const answer = await stats();
    expect(answer.status).toBe(200);
    const total = totalOf(answer);
    expect(total).toMatchObject({ requests: 4, errors: 1 });
    expect(total['p50_ms']).toBeCloseTo(13, -1);
    expect(Math.abs((total['p99_ms'] ?? 0) - 100)).toBeLessThan(9.1);
    expect(answer.json.data?.['steps']).toEqual([]);
  });

  it('counts by steps of the clock, and leaves out those without a request', async () => {
    const answer = await stats(`?from=${time(3 * HOUR_MS)}&step=15m`);
    const steps = answer.json.data?.['steps'] as { at: string; requests: number }[];
    expect(steps.map(({ requests }) => requests).reduce((sum, one) => sum + one, 0)).toBe(5);
    expect(steps.every(({ at }) => Date.parse(at) % (15 * MINUTE_MS) === 0)).toBe(true);
    expect(totalOf(answer)['requests']).toBe(5);
  });

  it('filters, and shows nothing that the token does not cover', async () => {
    expect(totalOf(await stats('?route=other'))['requests']).toBe(1);
    expect(totalOf(await stats('?status_class=5xx'))['requests']).toBe(1);
    expect(totalOf(await stats('?outcome=timeout'))).toEqual({
      requests: 0,
      errors: 0,
      p50_ms: null,
      p95_ms: null,
      p99_ms: null,
    });
    const scoped = { name: 's', environments: ['development'], scopes: ['requests:read'] };
    const token = await api.makeToken(scoped);
    expect(totalOf(await stats('', token))['requests']).toBe(1);
    expect(totalOf(await stats('?environment=production', token))['requests']).toBe(0);
    const other = await api.makeToken({ name: 'o', environments: ['*'], scopes: ['routes:read'] });
    expectError(await stats('', other), 401, 'authentication_failed');
  });

  it('counts nothing that is older than 30 days', async () => {
    const answer = await stats(`?from=${time(60 * 24 * HOUR_MS)}`);
    expect(totalOf(answer)['requests']).toBe(10);
  });

  it('says with which statuses gRPC calls ended, and counts those of failed servers as errors', async () => {
    const period = `from=${time(28 * HOUR_MS)}&to=${time(25 * HOUR_MS)}`;
    const answer = await stats(`?${period}&step=1h`);
    expect(totalOf(answer)).toMatchObject({ requests: 5, errors: 2 });
    expect(answer.json.data?.['grpc_statuses']).toEqual([
      { grpc_status: 0, requests: 1 },
      { grpc_status: 5, requests: 1 },
      { grpc_status: 14, requests: 2 },
    ]);
    expect(answer.json.data?.['steps']).toMatchObject([
      { requests: 3, errors: 1 },
      { requests: 2, errors: 1 },
    ]);
    const filtered = await stats(`?${period}&grpc_status=14`);
    expect(totalOf(filtered)).toMatchObject({ requests: 2, errors: 2 });
    expect((await stats()).json.data?.['grpc_statuses']).toEqual([]);
  });

  it('counts by version and by class of status, those with the most first, with their steps', async () => {
    const versions: readonly (readonly [string | null, Partial<RequestRecord>])[] = [
      ['v1', {}],
      ['v1', {}],
      ['v2', { status: 500, outcome: 'upstream_error' }],
      ['v2', { status: 429, outcome: 'rejected' }],
      ['v2', { status: 200, timing: timing({ upstream_ms: 499 }) }],
      [null, { status: null, outcome: 'client_aborted' }],
    ];
    const fromMs = 50 * HOUR_MS;
    const records = versions.map(([version, changes], index) =>
      storableRecord(
        requestRecord(nowMs - fromMs + index * 20_000, {
          route: 'canary',
          route_version: version,
          ...changes,
        }),
      ),
    );
    await insertRecords(api.db, records);
    const period = `from=${time(fromMs)}&to=${time(fromMs - HOUR_MS)}`;
    const groups = async (query: string) => {
      const { status, json } = await stats(`?${period}&${query}`);
      expect(status).toBe(200);
      return json.data?.['groups'] as Record<string, unknown>[];
    };
    const byVersion = await groups('route=canary&by=version&step=1m');
    expect(byVersion).toMatchObject([
      { value: 'v2', requests: 3, errors: 1, steps: [{ requests: 1 }, { requests: 2 }] },
      { value: 'v1', requests: 2, errors: 0, steps: [{ requests: 2 }] },
      { value: null, requests: 1, errors: 0 },
    ]);
    expect(Math.abs(Number(byVersion[0]?.['p95_ms']) - 500)).toBeLessThan(46);
    expect(await groups('route=canary&by=status_class')).toMatchObject([
      { value: '2xx', requests: 3, steps: [] },
      { value: null, requests: 1 },
      { value: '4xx', requests: 1 },
      { value: '5xx', requests: 1 },
    ]);
    expect(await groups('route=canary&by=version&version=v1')).toMatchObject([{ value: 'v1' }]);
    expect(await groups('route=canary')).toEqual([]);
    const { json } = await stats(`/routes?${period}&names=canary,none&step=1m&limit=2`);
    expect(json.data?.['routes']).toMatchObject([
      {
        route: 'canary',
        requests: 6,
        errors: 1,
        rejected: 1,
        steps: [
          { requests: 3, errors: 1, rejected: 0 },
          { requests: 3, errors: 0, rejected: 1 },
        ],
      },
    ]);
  });

  it('names at most 20 versions, those with the most requests', async () => {
    const fromMs = 60 * HOUR_MS;
    const records = Array.from({ length: 25 }, (_none, version) =>
      Array.from({ length: version === 24 ? 2 : 1 }, () =>
        storableRecord(
          requestRecord(nowMs - fromMs, { route: 'many', route_version: `v${version}` }),
        ),
      ),
    );
    await insertRecords(api.db, records.flat());
    const period = `from=${time(fromMs)}&to=${time(fromMs - HOUR_MS)}`;
    const answer = await stats(`?${period}&route=many&by=version`);
    const groups = answer.json.data?.['groups'] as { value: string }[];
    expect([groups.length, groups[0]?.value, totalOf(answer)['requests']]).toEqual([20, 'v24', 26]);
  });

  it.each([
    ['from', 'from=yesterday'],
    ['from', `from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z`],
    ['step', 'step=2m'],
    ['step', 'from=2030-01-01T00:00:00Z&to=2030-01-02T00:00:00Z&step=1m'],
    ['status_class', 'status_class=200'],
    ['grpc_status', 'grpc_status=17'],
    ['outcome', 'outcome=bad'],
    ['by', 'by=route'],
    ['route', 'by=version'],
    ['environment', 'environment=A%20B'],
    ['until', 'until=2030-01-02T00:00:00Z'],
  ])('names a wrong %s: %s', async (path, query) => {
    const answer = await stats(`?${query}`);
    expectError(answer, 400, 'invalid_request');
    expect(answer.json.error?.['details']).toMatchObject([{ path }]);
  });

  it('counts by route, those with the most first, and only covered ones', async () => {
    const routes = async (query = '', token?: string) => {
      const { status, json } = await stats(`/routes${query}`, token);
      expect(status).toBe(200);
      return json.data?.['routes'] as Record<string, unknown>[];
    };
    expect(await routes()).toMatchObject([
      { environment: 'production', route: 'echo', requests: 3, errors: 1 },
      { environment: 'development', route: 'other', requests: 1, errors: 0 },
    ]);
    expect(await routes('?order=p95_ms&limit=1')).toMatchObject([{ route: 'echo' }]);
    expect(await routes('?order=error_rate&limit=1')).toMatchObject([{ route: 'echo' }]);
    expect(await routes('?names=other')).toMatchObject([{ route: 'other', steps: [] }]);
    expect(await routes('?environment=development')).toMatchObject([{ route: 'other' }]);
    expect(await routes(`?to=${time(24 * HOUR_MS)}`)).toEqual([]);
    const scoped = { name: 'r', environments: ['development'], scopes: ['requests:read'] };
    expect(await routes('', await api.makeToken(scoped))).toMatchObject([{ route: 'other' }]);
  });

  it.each([
    ['order', 'order=name'],
    ['limit', 'limit=201'],
    ['limit', 'from=2029-12-31T22:00:00Z&to=2030-01-01T00:00:00Z&step=1m&limit=101'],
    ['step', 'from=2029-12-31T21:00:00Z&to=2030-01-01T00:00:00Z&step=1m'],
    ['names.1', 'names=echo,A%20B'],
    ['names', `names=${Array.from({ length: 201 }, (_none, at) => `r${at}`).join(',')}`],
    ['from', 'from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z'],
    ['route', 'route=echo'],
  ])('of routes names a wrong %s: %s', async (path, query) => {
    const answer = await stats(`/routes?${query}`);
    expectError(answer, 400, 'invalid_request');
    expect(answer.json.error?.['details']).toMatchObject([{ path }]);
  });
});
