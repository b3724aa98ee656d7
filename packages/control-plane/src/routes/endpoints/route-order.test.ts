import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { expectError } from '../../../test/expect-error.ts';
import { storableRecord } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';

const MINUTE_MS = 60_000;

/** Each route with its requests, failed ones and their duration, in the order of creation. */
const ROUTES = [
  ['m-quiet', 0, 0, 0],
  ['z-busy', 9, 1, 20],
  ['a-slow', 2, 0, 900],
  ['k-failing', 3, 3, 40],
  ['b-quiet', 0, 0, 0],
] as const;

describe('the order of routes', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
    const service = { name: 'pay', environment: 'production', url: 'http://pay.example' };
    const { json } = await api.call('POST', '/v1/services', { body: service });
    for (const [name] of ROUTES) {
      api.clock.advance(1000);
      const body = { service_id: json.data?.id, name };
      expect((await api.call('POST', '/v1/routes', { body })).status).toBe(201);
    }
    await count(api.clock.nowMs() - 5 * MINUTE_MS);
  });
  afterAll(() => api.close());

  async function count(atMs: number): Promise<void> {
    const records = ROUTES.flatMap(([route, requests, failed, ms]) =>
      Array.from({ length: requests }, (_none, index) =>
        requestRecord(atMs, {
          route,
          timing: timing({ upstream_ms: ms }),
          ...(index < failed && { status: 502, outcome: 'upstream_error' as const }),
        }),
      ),
    );
    await insertRecords(api.db, records.map(storableRecord));
  }

  /** The names of all pages, one by one, with what is done after each page. */
  async function namesOf(query: string, limit = 2, between = () => Promise.resolve()) {
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await api.call('GET', `/v1/routes?${query}&limit=${limit}${next}`);
      expect(answer.status).toBe(200);
      names.push(...(answer.json.data ?? []).map((one) => String(one['name'])));
      cursor = answer.json.next_cursor ?? null;
      await between();
    } while (cursor !== null);
    return names;
  }

  it.each([
    ['name', 'a-slow b-quiet k-failing m-quiet z-busy'],
    ['-name', 'z-busy m-quiet k-failing b-quiet a-slow'],
    ['updated_at', 'm-quiet z-busy a-slow k-failing b-quiet'],
    ['-updated_at', 'b-quiet k-failing a-slow z-busy m-quiet'],
    ['-requests', 'z-busy k-failing a-slow m-quiet b-quiet'],
    ['requests', 'm-quiet b-quiet a-slow k-failing z-busy'],
    ['-error_rate', 'k-failing z-busy a-slow m-quiet b-quiet'],
    ['error_rate', 'm-quiet b-quiet a-slow z-busy k-failing'],
    ['-p95_ms', 'a-slow k-failing z-busy m-quiet b-quiet'],
    ['p95_ms', 'm-quiet b-quiet z-busy k-failing a-slow'],
  ])('is over all pages: %s', async (order, expected) => {
    const wanted = expected.split(' ');
    expect(await namesOf(`order=${order}`)).toEqual(wanted);
    expect(await namesOf(`order=${order}`, 3)).toEqual(wanted);
    const filtered = wanted.filter((name) => name.includes('quiet'));
    expect(await namesOf(`order=${order}&search=quiet&environment=production`, 1)).toEqual(
      filtered,
    );
  });

  it('by traffic stays that of the first page while time passes', async () => {
    const late = async () => {
      api.clock.advance(90 * MINUTE_MS);
      await Promise.resolve();
    };
    expect(await namesOf('order=-requests', 1, late)).toEqual([
      'z-busy',
      'k-failing',
      'a-slow',
      'm-quiet',
      'b-quiet',
    ]);
    // Those requests are older than an hour now.
    expect(await namesOf('order=-requests')).toEqual(ROUTES.map(([name]) => name));
  });

  it('by traffic needs the right to see it', async () => {
    const rights = { environments: ['production'], scopes: ['routes:read'] };
    const token = await api.makeToken({ name: 'reader', ...rights });
    const refused = await api.call('GET', '/v1/routes?order=-requests', { token });
    expectError(refused, 401, 'authentication_failed');
    expect((await api.call('GET', '/v1/routes?order=-name', { token })).status).toBe(200);
  });

  it('has cursors of its own, and a wrong one is refused', async () => {
    const first = await api.call('GET', '/v1/routes?order=name&limit=1');
    const cursor = first.json.next_cursor ?? '';
    for (const query of ['order=-name', 'order=-requests', 'limit=1']) {
      const answer = await api.call('GET', `/v1/routes?${query}&cursor=${cursor}`);
      expectError(answer, 400, 'invalid_request');
    }
    const forged = ['routes -requests', ['1; DROP', 'rte_1', 0]];
    const text = Buffer.from(JSON.stringify(forged)).toString('base64url');
    const answer = await api.call('GET', `/v1/routes?order=-requests&cursor=${text}`);
    expectError(answer, 400, 'invalid_request');
  });

  it('shows only routes that the token covers', async () => {
    const scopes = ['routes:read', 'requests:read'];
    const reach = { environments: ['production'], routes: ['a-slow', 'z-busy'], scopes };
    const token = await api.makeToken({ name: 'some', ...reach });
    const { json } = await api.call('GET', '/v1/routes?order=name', { token });
    expect(json.data?.map((one) => one['name'])).toEqual(['a-slow', 'z-busy']);
  });
});
