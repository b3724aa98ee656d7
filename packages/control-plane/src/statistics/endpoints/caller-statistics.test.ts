import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import type { RequestRecord } from '@gateway/shared/records/record';
import { storeAs } from '../../requests/ingest/storable-record.ts';
import { insertRecords } from '../../requests/store/records.ts';
import { readCallerStatistics } from '../../requests/store/read-caller-statistics.ts';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

const MINUTE_MS = 60_000;

interface Caller {
  readonly token_id: string | null;
  readonly subject: string | null;
  readonly requests: number;
  readonly quota: { readonly used: number; readonly route: string } | null;
}

interface Counted {
  readonly counted_from: string;
  readonly requests: number;
  readonly callers: readonly Caller[];
}

const quota = (limit: number, remaining: number) => ({ limit, remaining, reset_seconds: 10 });

describe.each(['named', 'compact'] as const)('GET /v1/stats/callers of %s records', (documents) => {
  let api: TestApi;
  let nowMs: number;

  beforeAll(async () => {
    api = await startTestApi();
    nowMs = api.clock.nowMs();
    const store = storeAs(documents);
    const at = (beforeMs: number, changes: Partial<RequestRecord>) =>
      store(requestRecord(nowMs - beforeMs, changes));
    const failed = { status: 502, outcome: 'upstream_error' } as const;
    const limited = {
      status: 429,
      outcome: 'rejected',
      error_code: 'rate_limit_exceeded',
      rate_limit: quota(10, 0),
    } as const;
    const withJwt = { token_id: null, subject: 'user-7', rate_limit: null };
    await insertRecords(api.db, [
      ...[1, 2, 3].map((minute) =>
        at(minute * MINUTE_MS, { token_id: 'tok_busy', rate_limit: quota(100, 10 * minute) }),
      ),
      at(4 * MINUTE_MS, { ...failed, token_id: 'tok_failing', rate_limit: null }),
      at(5 * MINUTE_MS, {
        ...failed,
        token_id: 'tok_failing',
        timing: timing({ upstream_ms: 499 }),
      }),
      at(6 * MINUTE_MS, { ...limited, token_id: 'tok_limited', route: 'scarce' }),
      at(7 * MINUTE_MS, withJwt),
      at(8 * MINUTE_MS, { ...withJwt, subject: null }),
      at(9 * MINUTE_MS, { token_id: 'tok_other', environment: 'development', route: 'scarce' }),
      at(2 * MINUTE_MS, { token_id: 'tok_busy', kind: 'mirror' }),
      at(70 * MINUTE_MS, { token_id: 'tok_old' }),
    ]);
  });
  afterAll(() => api.close());

  async function callers(query = '', token?: string): Promise<Counted> {
    const options = token === undefined ? {} : { token };
    const { status, json } = await api.call('GET', `/v1/stats/callers${query}`, options);
    expect(status).toBe(200);
    return json.data as unknown as Counted;
  }
  const ids = ({ callers: all }: Counted) =>
    all.map(({ token_id, subject }) => token_id ?? subject);

  it('lists the callers of the last hour, those with the most requests first', async () => {
    const counted = await callers();
    expect(counted.requests).toBe(9);
    expect(ids(counted).slice(0, 2)).toEqual(['tok_busy', 'tok_failing']);
    expect(new Set(ids(counted))).toEqual(
      new Set(['tok_busy', 'tok_failing', 'tok_limited', 'user-7', null, 'tok_other']),
    );
    expect(counted.callers[0]).toMatchObject({
      requests: 3,
      errors: 0,
      rate_limited: 0,
      p95_ms: 13,
    });
  });

  it('shows whose requests fail, whose are refused, and who is nearest to a quota', async () => {
    const failing = await callers('?order=errors&limit=1');
    expect(failing.callers).toMatchObject([{ token_id: 'tok_failing', errors: 2, p95_ms: 500 }]);
    const limited = await callers('?order=rate_limited&limit=1');
    expect(limited.callers).toMatchObject([{ token_id: 'tok_limited', rate_limited: 1 }]);
    const near = await callers('?order=quota_used&limit=2');
    expect(near.callers).toMatchObject([
      { token_id: 'tok_limited', quota: { route: 'scarce', limit: 10, remaining: 0, used: 1 } },
      { token_id: 'tok_busy', quota: { route: 'echo', limit: 100, remaining: 10, used: 0.9 } },
    ]);
    const at = new Date(nowMs - MINUTE_MS).toISOString();
    expect(near.callers[1]).toMatchObject({ last_at: at, quota: { at } });
  });

  it('filters by period, environment, route and token', async () => {
    expect(ids(await callers('?environment=development'))).toEqual(['tok_other']);
    expect(ids(await callers('?route=scarce&environment=production'))).toEqual(['tok_limited']);
    expect(ids(await callers('?token_id=tok_failing'))).toEqual(['tok_failing']);
    const from = encodeURIComponent(new Date(nowMs - 120 * MINUTE_MS).toISOString());
    const to = encodeURIComponent(new Date(nowMs - 60 * MINUTE_MS).toISOString());
    expect(ids(await callers(`?from=${from}&to=${to}`))).toEqual(['tok_old']);
    expect(await callers('?token_id=tok_nobody')).toMatchObject({ requests: 0, callers: [] });
  });

  it('shows a token only what it covers', async () => {
    const limited = {
      name: `of-scarce-${documents}`,
      environments: ['production'],
      routes: ['scarce'],
      scopes: ['requests:read'],
    };
    const { json } = await api.call('POST', '/v1/tokens', { body: limited });
    expect(ids(await callers('', json.data?.secret))).toEqual(['tok_limited']);
  });

  it('counts the newest records if there are too many, and says how many', async () => {
    const counted = await readCallerStatistics(api.db, {
      fromMs: nowMs - 60 * MINUTE_MS,
      toMs: nowMs,
      environments: undefined,
      routes: undefined,
      order: 'requests',
      limit: 10,
      maxRecords: 4,
    });
    expect(counted.requests).toBe(4);
    expect(counted.oldestMs).toBe(nowMs - 4 * MINUTE_MS);
    expect(counted.callers.map(({ tokenId }) => tokenId)).toEqual(['tok_busy', 'tok_failing']);
  });

  it('refuses a period that ends before it begins, and an unknown order', async () => {
    const time = encodeURIComponent(new Date(nowMs).toISOString());
    const answer = await api.call('GET', `/v1/stats/callers?from=${time}&to=2020-01-01T00:00:00Z`);
    expectError(answer, 400, 'invalid_request');
    expectError(await api.call('GET', '/v1/stats/callers?order=name'), 400, 'invalid_request');
  });
});
