import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { createIdFactory } from '@gateway/shared/ids';
import type { RequestRecord } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock, type ManualClock } from '@gateway/shared/test/manual-clock';
import { requestViewSchema } from '../domain/request-record.ts';
import { RECORD_DOCUMENTS } from '../domain/record-document.ts';
import { storableRecord, storeAs } from '../ingest/storable-record.ts';
import { REQUEST_RECORDS } from '../domain/partitioned-table.ts';
import { createPartitions } from '../store/partitions/partitions.ts';
import { insertRecords } from '../store/records/records.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openTestStore, type TestStore } from '../../test/store.ts';
import type { CallerToken } from '../http/endpoint.ts';
import { requestEndpoints } from './requests.ts';

const NOW = Date.UTC(2030, 5, 15, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_OF_DAY_MS = 12 * 60 * 60 * 1000;
/** The wall time, which does not change while time passes. */
const runningClock: Clock = { ...systemClock, nowMs: () => NOW };

let store: TestStore;
let clock: ManualClock;
beforeEach(async () => {
  store = await openTestStore();
  clock = manualClock(NOW);
});
afterEach(() => store.close());

function token(environments = ['*'], routes = ['*']): CallerToken {
  return { id: 'tok_1', environments, routes, scopes: ['requests:read'], expires_at: null };
}

function insert(...records: readonly RequestRecord[]): Promise<number> {
  return insertRecords(store.db, records.map(storableRecord));
}

interface Asked {
  readonly token?: CallerToken;
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** The result of the endpoint, or the error code with the names of the invalid fields. */
async function ask(
  path: string,
  asked: Asked,
  time: Clock = clock,
  endpoints = requestEndpoints({ db: store.db, clock: time }),
) {
  const found = endpoints.find((one) => one.path === path);
  try {
    return await found?.run({
      token: token(),
      params: {},
      query: {},
      body: undefined,
      sent: undefined,
      ifMatch: undefined,
      ifNoneMatch: undefined,
      clientAddress: '127.0.0.1',
      requestId: 'req_1',
      signal: new AbortController().signal,
      ...asked,
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, paths: error.details?.map((detail) => detail.path) };
  }
}

const show = (id: string, caller = token()) =>
  ask('/v1/requests/{id}', { params: { id }, token: caller });

async function list(query: Record<string, string>, caller = token(), time: Clock = clock) {
  const reply = await ask('/v1/requests', { query, token: caller }, time);
  if (reply === undefined || !('kind' in reply) || reply.kind !== 'page') return reply;
  const ids = (reply.data as readonly { id: string }[]).map((record) => record.id);
  return { ids, next: reply.nextCursor };
}

describe('GET /v1/requests/{id}', () => {
  it.each(RECORD_DOCUMENTS)(
    'shows every field of a %s record, and when it expires',
    async (form) => {
      const record = requestRecord(NOW - 10_000);
      await insertRecords(store.db, [storeAs(form)(record)]);
      const { received_at_ms: receivedAtMs, ...fields } = record;
      const data = {
        ...fields,
        received_at: new Date(receivedAtMs).toISOString(),
        expires_at: new Date(receivedAtMs + 30 * DAY_MS).toISOString(),
      };
      expect(await show(record.id)).toEqual({ kind: 'one', data });
      expect(requestViewSchema.parse(data)).toEqual(data);
    },
  );

  it('answers request_not_found for an unknown, malformed or other id', async () => {
    const other = createIdFactory(() => NOW - 10_000);
    for (const id of [other('req'), other('rte'), 'req_', '', "req_' OR 1=1", 'req_\0']) {
      expect(await show(id)).toMatchObject({ code: 'request_not_found' });
    }
  });

  it('finds a request for exactly 30 days, although its partition exists longer', async () => {
    const record = requestRecord(NOW - 30 * DAY_MS + 1);
    await insert(record);
    expect(await show(record.id)).toMatchObject({ kind: 'one' });
    clock.advance(1);
    expect(await show(record.id)).toMatchObject({ code: 'request_not_found' });
    expect(await list({})).toEqual({ ids: [], next: null });
  });

  it('waits for the record of a request that has just ended', async () => {
    const record = requestRecord(NOW - 100);
    const answer = show(record.id);
    let answered = false;
    void answer.then(() => (answered = true));
    await insert(record);
    await eventually(() => {
      clock.advance(40);
      expect(answered).toBe(true);
    });
    expect(await answer).toMatchObject({ kind: 'one' });
    expect(clock.monotonicMs()).toBeLessThan(2000);
  });

  it('refuses a token that does not cover the environment and the route', async () => {
    const record = requestRecord(NOW - 10_000);
    const refused = requestRecord(NOW - 10_000, { environment: null, route: null });
    const unrouted = requestRecord(NOW - 10_000, { route: null });
    await insert(record, refused, unrouted);
    const cases: [RequestRecord, CallerToken, boolean][] = [
      [record, token(['production'], ['echo']), true],
      [record, token(['*'], ['echo']), true],
      [record, token(['development'], ['*']), false],
      [record, token(['production'], ['other']), false],
      [refused, token(['production'], ['*']), false],
      [refused, token(), true],
      [unrouted, token(['production'], ['echo']), false],
      [unrouted, token(['production'], ['*']), true],
    ];
    for (const [{ id }, caller, isShown] of cases) {
      const wanted = isShown ? { kind: 'one' } : { code: 'authentication_failed' };
      expect(await show(id, caller)).toMatchObject(wanted);
    }
  });
});

describe('GET /v1/requests', () => {
  it('has full pages of the records that the token covers, newest first', async () => {
    const mine = Array.from({ length: 5 }, (_, index) =>
      requestRecord(NOW - 10_000 + index * 10, { route: 'mine' }),
    );
    const others = mine.map((record) => requestRecord(record.received_at_ms + 1));
    await insert(...mine, ...others, requestRecord(NOW - 10_000, { route: null }));
    const caller = token(['production'], ['mine']);
    const wanted = mine.map((record) => record.id).reverse();
    const first = await list({ limit: '3' }, caller);
    expect(first).toMatchObject({ ids: wanted.slice(0, 3), next: expect.any(String) });
    const cursor = first !== undefined && 'next' in first ? first.next : null;
    await insert(requestRecord(NOW - 5000, { route: 'mine' }));
    expect(await list({ limit: '3', cursor: cursor ?? '' }, caller)).toEqual({
      ids: wanted.slice(3),
      next: null,
    });
  });

  it('ends in time if Postgres is slow, and continues with the cursor', async () => {
    const slowDay = NOW - NOW_OF_DAY_MS - 3 * DAY_MS;
    await createPartitions(store.db, REQUEST_RECORDS, [slowDay]);
    const recent = [requestRecord(NOW - 5000), requestRecord(NOW - 60_000)];
    const old = requestRecord(slowDay + 1000);
    await insert(...recent, old);
    const page = await store.db.transaction().execute(async (other) => {
      await sql`LOCK TABLE ${sql.table('request_records_20300612')}`.execute(other);
      return list({ limit: '3' }, token(), runningClock);
    });
    expect(page).toMatchObject({ ids: recent.map(({ id }) => id), next: expect.any(String) });
    const cursor = page !== undefined && 'next' in page ? page.next : null;
    const rest = await list({ limit: '3', cursor: cursor ?? '' }, token(), runningClock);
    expect(rest).toEqual({ ids: [old.id], next: null });
  }, 20_000);

  it('leaves database connections for other calls, however many slow searches run', async () => {
    const endpoints = requestEndpoints({ db: store.db, clock });
    const lists = await store.db.transaction().execute(async (other) => {
      await sql`LOCK TABLE request_records_default`.execute(other);
      const gone = new AbortController();
      const asked = { query: {}, signal: gone.signal };
      const under = Promise.allSettled(
        Array.from({ length: 30 }, () => ask('/v1/requests', asked, clock, endpoints)),
      );
      await eventually(async () => {
        const { rows } = await sql<{ count: number }>`
          SELECT count(*)::int FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'
        `.execute(store.db);
        expect(rows[0]?.count).toBe(4);
      });
      gone.abort();
      return { under };
    });
    const codes = (await lists.under).map((list) =>
      list.status === 'fulfilled' && list.value && 'code' in list.value ? list.value.code : 'list',
    );
    expect(codes.filter((code) => code === 'list')).toHaveLength(4);
    expect(codes.filter((code) => code === 'gateway_overloaded')).toHaveLength(26);
  });

  it('supports every documented filter', async () => {
    const at = NOW - 60_000;
    const good = requestRecord(at);
    const bad = requestRecord(at + 1, { route: 'other', status: 502, outcome: 'upstream_error' });
    const dev = requestRecord(at + 2, { environment: 'development', status: 201 });
    const left = requestRecord(at + 3, { status: null, outcome: 'client_aborted' });
    await insert(good, bad, dev, left);
    const time = (ms: number) => new Date(ms).toISOString();
    const cases: [Record<string, string>, RequestRecord[]][] = [
      [{ route: 'other' }, [bad]],
      [{ status: '201' }, [dev]],
      [{ status_class: '2xx' }, [dev, good]],
      [{ status_class: '5xx' }, [bad]],
      [{ status_class: 'none' }, [left]],
      [{ status_class: '2xx', status: '502' }, []],
      [{ outcome: 'upstream_error' }, [bad]],
      [{ environment: 'production' }, [left, bad, good]],
      [{ since: time(at + 1) }, [left, dev, bad]],
      [{ until: time(at + 1) }, [good]],
      [{ since: '2030-06-15T13:59:00.001+02:00', until: time(at + 2) }, [bad]],
      [{ route: 'none' }, []],
    ];
    for (const [query, wanted] of cases) {
      expect(await list(query)).toEqual({ ids: wanted.map((record) => record.id), next: null });
    }
  });

  it.each<[Record<string, string>, string]>([
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' }, 'since'],
    [{ until: '2030-06-15' }, 'until'],
    [{ status: '99' }, 'status'],
    [{ status: '2xx' }, 'status'],
    [{ status_class: '200' }, 'status_class'],
    [{ outcome: 'good' }, 'outcome'],
    [{ environment: 'No' }, 'environment'],
    [{ route: 'r'.repeat(256) }, 'route'],
    [{ route: 'a\0' }, 'route'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '201' }, 'limit'],
    [{ cursor: 'eyJ' }, 'cursor'],
    [{ cursor: Buffer.from('["requests","svc_1"]').toString('base64url') }, 'cursor'],
    [{ colour: 'red' }, 'colour'],
  ])('refuses %j and names the parameter', async (query, path) => {
    expect(await list(query)).toEqual({ code: 'invalid_request', paths: [path] });
  });
});

describe('the filters of GET /v1/requests by what only the document has', () => {
  const upstream = { id: 'ups_a', url: 'http://a.example', region: 'eu' };
  const slow = { gateway_ms: 1, upstream_ms: 700, total_ms: 701 };
  const cases: readonly [Record<string, string>, Partial<RequestRecord>][] = [
    [{ token_id: 'tok_wanted' }, { token_id: 'tok_wanted' }],
    [{ method: 'PURGE' }, { method: 'PURGE' }],
    [{ error_code: 'upstream_timeout' }, { error_code: 'upstream_timeout' }],
    [{ upstream: 'ups_a' }, { upstream }],
    [{ upstream: 'http://a.example' }, { upstream }],
    [{ min_duration_ms: '701' }, { timing: slow }],
    [
      { min_duration_ms: '500', method: 'PURGE', token_id: 'tok_wanted' },
      { timing: slow, method: 'PURGE', token_id: 'tok_wanted' },
    ],
  ];

  it.each(cases)(
    'finds with %j only the records that match, named or compact ones, newest first',
    async (query, fields) => {
      const at = [50, 40, 30, 20, 10].map((secondsAgo) => NOW - secondsAgo * 1000);
      const records = at.map((atMs, index) =>
        requestRecord(atMs, index % 2 === 0 ? fields : { timing: { ...slow, total_ms: 3 } }),
      );
      const forms = ['compact', 'compact', 'named', 'named', 'compact'] as const;
      await insertRecords(
        store.db,
        records.map((record, index) => storeAs(forms[index] ?? 'named')(record)),
      );
      const wanted = records.filter((_, index) => index % 2 === 0).reverse();
      expect(await list(query)).toEqual({ ids: wanted.map(({ id }) => id), next: null });
      const first = await list({ ...query, limit: '2' });
      if (first === undefined || !('ids' in first)) throw new Error('not a page');
      expect(first.ids).toEqual(wanted.slice(0, 2).map(({ id }) => id));
      const rest = await list({ ...query, limit: '2', cursor: first.next ?? '' });
      expect(rest).toEqual({ ids: [wanted[2]?.id], next: null });
    },
  );

  it.each([
    { method: 'G T' },
    { error_code: 'nonsense' },
    { upstream: '' },
    { min_duration_ms: '-1' },
    { min_duration_ms: '1.5' },
    { token_id: 'x'.repeat(65) },
  ])('refuses %j', async (query) => {
    expect(await list(query as unknown as Record<string, string>)).toEqual({
      code: 'invalid_request',
      paths: Object.keys(query),
    });
  });
});
