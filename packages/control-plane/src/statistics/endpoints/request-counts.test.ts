import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

interface Counts {
  readonly from: string;
  readonly counted_from: string;
  readonly requests: number;
  readonly step_seconds: number;
  readonly steps: readonly { readonly at: string; readonly requests: Record<string, number> }[];
  readonly values: readonly { readonly value: string; readonly requests: number }[];
}

describe('GET /v1/stats/requests', () => {
  let api: TestApi;
  let nowMs: number;

  beforeAll(async () => {
    api = await startTestApi();
    nowMs = api.clock.nowMs();
    const at = (beforeMs: number, changes: Partial<RequestRecord> = {}) =>
      storableRecord(requestRecord(nowMs - beforeMs, changes));
    const upstream = { id: 'ups_2', url: 'http://other:80', region: null };
    await insertRecords(api.db, [
      at(5 * MINUTE_MS),
      at(5 * MINUTE_MS + 1, { method: 'GET', token_id: 'tok_2' }),
      at(6 * MINUTE_MS, { status: 404, timing: timing({ upstream_ms: 900 }), upstream }),
      at(7 * MINUTE_MS, {
        status: 502,
        outcome: 'upstream_unavailable',
        error_code: 'upstream_unavailable',
      }),
      at(8 * MINUTE_MS, { status: null, outcome: 'client_aborted', route: 'other' }),
      at(9 * MINUTE_MS, { environment: 'development', route: 'dev', grpc_status: 14 }),
      at(10 * MINUTE_MS, { environment: null, route: null, status: 401, outcome: 'rejected' }),
      at(11 * MINUTE_MS, { kind: 'preflight', status: 204 }),
      at(5 * HOUR_MS, { status: 301 }),
    ]);
  });
  afterAll(() => api.close());

  const counts = async (query = '', token?: string): Promise<Counts> => {
    const options = token === undefined ? {} : { token };
    const answer = await api.call('GET', `/v1/stats/requests${query}`, options);
    expect(answer.status).toBe(200);
    return answer.json.data as unknown as Counts;
  };
  const time = (beforeMs: number) => encodeURIComponent(new Date(nowMs - beforeMs).toISOString());
  const from = (beforeMs: number) => `from=${time(beforeMs)}`;
  const valuesOf = async (query: string, token?: string) =>
    (await counts(query, token)).values.map(({ value, requests }) => [value, requests]);

  it('counts the last hour by minute and class of status', async () => {
    const { requests, step_seconds, steps, values } = await counts();
    expect([requests, step_seconds, values]).toEqual([7, 60, []]);
    const sums = steps.map((step) => step.requests);
    const sum = (name: string) => sums.reduce((all, one) => all + (one[name] ?? 0), 0);
    expect(['2xx', '4xx', '5xx', 'none'].map(sum)).toEqual([3, 2, 1, 1]);
    expect(steps.every(({ at }) => Date.parse(at) % MINUTE_MS === 0)).toBe(true);
  });

  it('counts what the list of requests would show, with any of its filters', async () => {
    const filters: readonly (readonly [string, number])[] = [
      ['route=echo', 4],
      ['status=404', 1],
      ['status_class=none', 1],
      ['method=GET', 1],
      ['token_id=tok_2', 1],
      ['error_code=upstream_unavailable', 1],
      ['upstream=http%3A%2F%2Fother%3A80', 1],
      ['min_duration_ms=500', 1],
      ['grpc_status=14', 1],
      ['failed=true', 1],
      ['failed=true&method=POST', 1],
      ['kind=preflight', 1],
      ['environment=development', 1],
      ['environment=production&outcome=success', 3],
    ];
    for (const [filter, wanted] of filters) {
      expect([filter, (await counts(`?${filter}`)).requests]).toEqual([filter, wanted]);
      const list = await api.call('GET', `/v1/requests?${filter}&since=${time(HOUR_MS)}`);
      const listed = list.json.data as unknown as readonly unknown[];
      expect([filter, listed.length]).toEqual([filter, wanted]);
    }
  });

  it('counts by each value, those with the most requests first', async () => {
    expect(await valuesOf('?by=route')).toEqual([
      ['echo', 4],
      ['dev', 1],
      ['other', 1],
    ]);
    expect(await valuesOf('?by=status')).toEqual([
      ['200', 3],
      ['401', 1],
      ['404', 1],
      ['502', 1],
    ]);
    expect(await valuesOf('?by=method')).toEqual([
      ['POST', 6],
      ['GET', 1],
    ]);
    expect(await valuesOf('?by=token_id')).toEqual([
      ['tok_1', 6],
      ['tok_2', 1],
    ]);
    expect(await valuesOf('?by=error_code')).toEqual([['upstream_unavailable', 1]]);
    expect(await valuesOf('?by=upstream&limit=1')).toEqual([['http://127.0.0.1:9000', 6]]);
    expect(await valuesOf('?by=outcome&route=echo')).toEqual([
      ['success', 3],
      ['upstream_unavailable', 1],
    ]);
    expect(await valuesOf('?by=grpc_status')).toEqual([['14', 1]]);
  });

  it('has shorter steps in a shorter period, and longer ones in a longer one', async () => {
    const short = await counts(`?${from(9 * MINUTE_MS + 1)}`);
    expect([short.step_seconds, short.requests]).toEqual([5, 6]);
    const quarter = await counts(`?${from(15 * MINUTE_MS)}`);
    expect([quarter.step_seconds, quarter.requests]).toEqual([60, 7]);
    const ofRecords = await counts(`?${from(15 * MINUTE_MS)}&min_duration_ms=0`);
    expect([ofRecords.step_seconds, ofRecords.requests]).toEqual([15, 7]);
    const long = await counts(`?${from(30 * 24 * HOUR_MS)}&environment=production`);
    expect([long.step_seconds, long.requests]).toEqual([21_600, 6]);
  });

  it('says from when on it counted', async () => {
    const { from: begin, counted_from: countedFrom } = await counts('?method=POST');
    expect(countedFrom).toBe(begin);
    const old = await counts(`?${from(60 * 24 * HOUR_MS)}&method=POST`);
    expect(Date.parse(old.counted_from)).toBeGreaterThan(nowMs - 31 * 24 * HOUR_MS);
  });

  it('counts nothing that the token does not cover, in both ways', async () => {
    const scoped = { name: 's', environments: ['production'], routes: ['other'] };
    const token = await api.makeToken({ ...scoped, scopes: ['requests:read'] });
    for (const filter of ['', 'min_duration_ms=0&']) {
      expect(await valuesOf(`?${filter}by=route`, token)).toEqual([['other', 1]]);
      expect((await counts(`?${filter}environment=development`, token)).requests).toBe(0);
      expect((await counts(`?${filter}route=echo`, token)).requests).toBe(0);
    }
    const other = await api.makeToken({ name: 'o', environments: ['*'], scopes: ['routes:read'] });
    const refused = await api.call('GET', '/v1/stats/requests', { token: other });
    expectError(refused, 401, 'authentication_failed');
  });

  it('refuses a period that ends before it begins, and values that it does not know', async () => {
    const refuse = async (query: string, field: string) => {
      const answer = await api.call('GET', `/v1/stats/requests?${query}`);
      expectError(answer, 400, 'invalid_request');
      expect(JSON.stringify(answer.json)).toContain(`"${field}"`);
    };
    await refuse(`from=${time(0)}&to=${time(HOUR_MS)}`, 'from');
    await refuse('by=client_ip', 'by');
    await refuse('status=abc', 'status');
  });
});
