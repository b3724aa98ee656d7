import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord, timing } from '@gateway/shared/test/request-record';
import { storeAs } from '../ingest/storable-record.ts';
import { insertRecords } from '../store/records.ts';
import { NOW, RequestWorld } from '../../../test/request-world.ts';

let world: RequestWorld;
beforeEach(async () => {
  world = await RequestWorld.open();
});
afterEach(() => world.close());

describe('the filters of GET /v1/requests', () => {
  it('supports every documented filter', async () => {
    const at = NOW - 60_000;
    const good = requestRecord(at);
    const bad = requestRecord(at + 1, { route: 'other', status: 502, outcome: 'upstream_error' });
    const dev = requestRecord(at + 2, { environment: 'development', status: 201 });
    const left = requestRecord(at + 3, { status: null, outcome: 'client_aborted' });
    const grpc = requestRecord(at + 4, { grpc_status: 14, outcome: 'upstream_error' });
    const fine = requestRecord(at + 5, { grpc_status: 0, route: 'other' });
    await world.insert(good, bad, dev, left);
    await insertRecords(world.store.db, [storeAs('compact')(grpc), storeAs('named')(fine)]);
    const time = (ms: number) => new Date(ms).toISOString();
    const cases: [Record<string, string>, RequestRecord[]][] = [
      [{ route: 'other' }, [fine, bad]],
      [{ grpc_status: '14' }, [grpc]],
      [{ grpc_status: '0' }, [fine]],
      [{ grpc_status: '0', route: 'echo' }, []],
      [{ grpc_status: '13' }, []],
      [{ status: '201' }, [dev]],
      [{ status_class: '2xx' }, [fine, grpc, dev, good]],
      [{ status_class: '5xx' }, [bad]],
      [{ status_class: 'none' }, [left]],
      [{ status_class: '2xx', status: '502' }, []],
      [{ outcome: 'upstream_error' }, [grpc, bad]],
      [{ environment: 'production' }, [fine, grpc, left, bad, good]],
      [{ since: time(at + 1) }, [fine, grpc, left, dev, bad]],
      [{ until: time(at + 1) }, [good]],
      [{ since: '2030-06-15T13:59:00.001+02:00', until: time(at + 2) }, [bad]],
      [{ route: 'none' }, []],
    ];
    for (const [query, wanted] of cases) {
      expect(await world.list(query)).toEqual({
        ids: wanted.map((record) => record.id),
        next: null,
      });
    }
  });

  it('shows records of another kind only if asked, in either form', async () => {
    const at = NOW - 60_000;
    const request = requestRecord(at);
    const preflight = requestRecord(at + 1, { kind: 'preflight' });
    const mirror = requestRecord(at + 2, { kind: 'mirror', parent_id: request.id });
    const compact = requestRecord(at + 3, { kind: 'mirror', parent_id: request.id });
    await world.insert(request, preflight, mirror);
    await insertRecords(world.store.db, [storeAs('compact')(compact)]);
    const idsOf = async (query: Record<string, string>) => world.list(query);
    expect(await idsOf({})).toEqual({ ids: [request.id], next: null });
    expect(await idsOf({ kind: 'request' })).toEqual({ ids: [request.id], next: null });
    expect(await idsOf({ kind: 'preflight' })).toEqual({ ids: [preflight.id], next: null });
    expect(await idsOf({ kind: 'mirror', route: request.route ?? '' })).toEqual({
      ids: [compact.id, mirror.id],
      next: null,
    });
  });

  it.each<[Record<string, string>, string]>([
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' }, 'since'],
    [{ until: '2030-06-15' }, 'until'],
    [{ status: '99' }, 'status'],
    [{ status: '2xx' }, 'status'],
    [{ status_class: '200' }, 'status_class'],
    [{ grpc_status: '17' }, 'grpc_status'],
    [{ grpc_status: '-1' }, 'grpc_status'],
    [{ grpc_status: 'OK' }, 'grpc_status'],
    [{ outcome: 'good' }, 'outcome'],
    [{ kind: 'all' }, 'kind'],
    [{ environment: 'No' }, 'environment'],
    [{ route: 'r'.repeat(256) }, 'route'],
    [{ route: 'a\0' }, 'route'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '201' }, 'limit'],
    [{ cursor: 'eyJ' }, 'cursor'],
    [{ cursor: Buffer.from('["requests","svc_1"]').toString('base64url') }, 'cursor'],
    [{ colour: 'red' }, 'colour'],
  ])('refuses %j and names the parameter', async (query, path) => {
    expect(await world.list(query)).toEqual({ code: 'invalid_request', paths: [path] });
  });
});

describe('the filters of GET /v1/requests by what only the document has', () => {
  const upstream = { id: 'ups_a', url: 'http://a.example', region: 'eu' };
  const slow = timing({ upstream_ms: 700 });
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
        world.store.db,
        records.map((record, index) => storeAs(forms[index] ?? 'named')(record)),
      );
      const wanted = records.filter((_, index) => index % 2 === 0).reverse();
      expect(await world.list(query)).toEqual({ ids: wanted.map(({ id }) => id), next: null });
      const first = await world.list({ ...query, limit: '2' });
      if (first === undefined || !('ids' in first)) throw new Error('not a page');
      expect(first.ids).toEqual(wanted.slice(0, 2).map(({ id }) => id));
      const rest = await world.list({ ...query, limit: '2', cursor: first.next ?? '' });
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
    expect(await world.list(query as unknown as Record<string, string>)).toEqual({
      code: 'invalid_request',
      paths: Object.keys(query),
    });
  });
});
