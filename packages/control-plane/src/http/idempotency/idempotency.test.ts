import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { cleanIdempotencyKeys, createDroppedKeys } from '../../partitions/key-cleanup.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60 * 1000;
const signal = new AbortController().signal;

describe('a POST with an Idempotency-Key', () => {
  let api: TestApi;
  let keys = 0;
  let serviceId: string;

  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'base', environment: 'production', url: 'http://a.example' };
    serviceId = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  });

  afterAll(async () => {
    await api.close();
  });

  const newKey = () => `key-${(keys += 1)}`;
  const post = (path: string, body: object, key: string, token = api.adminToken) =>
    api.call('POST', path, { body, token, headers: { 'idempotency-key': key } });

  async function changes(): Promise<number> {
    return (await api.db.selectFrom('config_outbox').select('id').execute()).length;
  }

  async function storedText(): Promise<string> {
    const { rows } = await sql`SELECT idempotency_keys::text FROM idempotency_keys`.execute(api.db);
    return JSON.stringify(rows);
  }

  it.each([
    [
      '/v1/services',
      (name: string) => ({ name, environment: 'production', url: 'http://a.example' }),
    ],
    ['/v1/routes', (name: string) => ({ name, service_id: serviceId })],
    ['/v1/environments', (name: string) => ({ name })],
  ])('to %s runs once, and gets the same response again', async (path, bodyOf) => {
    const key = newKey();
    const body = bodyOf(`once-${key}`);
    const first = await post(path, body, key);
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const before = await changes();
    const again = await post(path, body, key);
    expect(again.status).toBe(201);
    expect(again.json.data).toEqual(first.json.data);
    for (const name of ['location', 'etag']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await changes()).toBe(before);
  });

  it('runs once if it is sent many times at once', async () => {
    const key = newKey();
    const body = { name: 'at-once', service_id: serviceId };
    const before = await changes();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('/v1/routes', body, key)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map(({ json }) => json.data?.id)).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(19);
    expect(await changes()).toBe(before + 1);
  });

  it('with another body, path or query gets idempotency_conflict, which names the first call', async () => {
    const key = newKey();
    const body = { name: 'conflicting', service_id: serviceId };
    const first = await post('/v1/routes', body, key);
    for (const [path, other] of [
      ['/v1/routes', { ...body, timeout_ms: 1 }],
      ['/v1/services', body],
      ['/v1/routes?x=1', body],
    ] as const) {
      const refused = await post(path, other, key);
      expectError(refused, 409, 'idempotency_conflict');
      expect(refused.json.error?.['message']).toContain(first.headers.get('x-request-id'));
    }
  });

  it('that fails does not use the key', async () => {
    const key = newKey();
    expectError(await post('/v1/routes', { name: 'x' }, key), 400, 'invalid_request');
    const body = { name: 'base', environment: 'production', url: 'http://a.example' };
    expectError(await post('/v1/services', body, key), 409, 'name_conflict');
    const made = await post('/v1/services', { ...body, name: 'corrected' }, key);
    expect(made.status).toBe(201);
    expect(made.headers.get('idempotent-replayed')).toBeNull();
  });

  it('has keys of its token only', async () => {
    const key = newKey();
    const reach = { environments: ['production'], scopes: ['services:write'] };
    const [one, two] = [
      await api.makeToken({ name: 'one', ...reach }),
      await api.makeToken({ name: 'two', ...reach }),
    ];
    const body = (name: string) => ({ name, url: 'http://a.example' });
    expect((await post('/v1/services', body('of-one'), key, one)).status).toBe(201);
    expect((await post('/v1/services', body('of-two'), key, two)).status).toBe(201);
    const missing = await api.makeToken({ name: 'three', ...reach, scopes: ['routes:write'] });
    expect((await post('/v1/services', body('of-one'), key, missing)).status).toBe(401);
  });

  it('forgets the key after 24 hours', async () => {
    const key = newKey();
    const body = { name: 'daily', environment: 'production', url: 'http://a.example' };
    const first = await post('/v1/services', body, key);
    api.clock.advance(DAY_MS - 1);
    expect((await post('/v1/services', body, key)).json.data?.id).toBe(first.json.data?.id);
    api.clock.advance(1);
    expectError(await post('/v1/services', body, key), 409, 'name_conflict');
    const other = await post('/v1/services', { ...body, name: 'next-day' }, key);
    expect(other.status).toBe(201);
    expect((await post('/v1/services', { ...body, name: 'next-day' }, key)).json.data?.id).toBe(
      other.json.data?.id,
    );
  });

  it.each(['', 'a b', '"open', 'x'.repeat(256), 'caf\u00e9'])(
    'of the invalid form %j gets invalid_request, without the key',
    async (key) => {
      const body = { name: 'never', service_id: serviceId };
      const refused = await post('/v1/routes', body, key);
      expectError(refused, 400, 'invalid_request');
      expect(refused.json.error?.['details']).toMatchObject([{ path: 'idempotency-key' }]);
      if (key.length > 1) expect(refused.text).not.toContain(key);
    },
  );

  it('is the same key bare and quoted', async () => {
    const key = newKey();
    const body = { name: 'quoted', service_id: serviceId };
    const first = await post('/v1/routes', body, key);
    expect((await post('/v1/routes', body, `"${key}"`)).json.data?.id).toBe(first.json.data?.id);
  });

  it('leaves neither the change nor the key if the response cannot be stored', async () => {
    const key = newKey();
    const body = { name: 'atomic', service_id: serviceId };
    await sql`
      CREATE FUNCTION refuse_response() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused'; END $$
    `.execute(api.db);
    await sql`
      CREATE TRIGGER refuse BEFORE UPDATE ON idempotency_keys
      FOR EACH ROW EXECUTE FUNCTION refuse_response()
    `.execute(api.db);
    const before = await changes();
    expectError(await post('/v1/routes', body, key), 500, 'internal_error');
    expect(await changes()).toBe(before);
    await sql`DROP TRIGGER refuse ON idempotency_keys`.execute(api.db);
    expect((await post('/v1/routes', body, key)).status).toBe(201);
  });

  it('gets idempotency_in_progress if the first call does not end', async () => {
    const key = newKey();
    const body = { name: 'stuck', service_id: serviceId };
    await api.db.transaction().execute(async (transaction) => {
      // Holds the lock that the first call needs after it has claimed the key.
      await sql`LOCK TABLE routes IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      const first = post('/v1/routes', body, key);
      const refused = await Promise.race([
        first.then(() => undefined),
        (async () => {
          let rows = 0;
          while (rows === 0) {
            const found = await sql`
              SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
              WHERE NOT granted AND datname = current_database()
            `.execute(api.db);
            rows = found.rows.length;
          }
          return post('/v1/routes', body, key);
        })(),
      ]);
      if (refused === undefined) throw new Error('the first call has ended');
      expectError(refused, 409, 'idempotency_in_progress');
      expect(refused.headers.get('retry-after')).toBe('1');
      void first.catch(() => undefined);
    });
  });

  describe('that creates a secret', () => {
    const reach = { environments: ['production'], scopes: ['services:read'] };
    const works = async (token: string) =>
      (await api.call('GET', '/v1/services', { token })).status === 200;

    it('gets the same secret once more, and afterwards an error that says what to do', async () => {
      const key = newKey();
      const body = { name: `secret-${key}`, ...reach };
      const first = await post('/v1/tokens', body, key);
      const secret = first.json.data?.secret ?? '';
      expect(await storedText()).not.toContain(secret);
      const again = await post('/v1/tokens', body, key);
      expect(again.json.data).toEqual(first.json.data);
      expect(await works(again.json.data?.secret ?? '')).toBe(true);
      const third = await post('/v1/tokens', body, key);
      expectError(third, 409, 'idempotency_secret_gone');
      expect(third.json.error?.['message']).toContain(
        `POST /v1/tokens/${first.json.data?.id ?? ''}/rotate`,
      );
      expect(third.text).not.toContain('gwt_');
    });

    it('gets the secret of a rotation once more', async () => {
      const made = await api.call('POST', '/v1/tokens', { body: { name: 'turning', ...reach } });
      const path = `/v1/tokens/${made.json.data?.id ?? ''}/rotate`;
      const key = newKey();
      const first = await post(path, {}, key);
      const again = await post(path, {}, key);
      expect(again.status).toBe(200);
      expect(again.json.data).toEqual(first.json.data);
      expect(await works(again.json.data?.secret ?? '')).toBe(true);
    });

    it('does not show the secret of a token that was revoked since', async () => {
      const key = newKey();
      const body = { name: `revoked-${key}`, ...reach };
      const { id } = (await post('/v1/tokens', body, key)).json.data ?? {};
      await api.call('DELETE', `/v1/tokens/${id}`);
      expectError(await post('/v1/tokens', body, key), 409, 'idempotency_secret_gone');
    });

    it('shows the secret to one of many retries', async () => {
      const key = newKey();
      const body = { name: `many-${key}`, ...reach };
      await post('/v1/tokens', body, key);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => post('/v1/tokens', body, key)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        201,
        ...Array<number>(9).fill(409),
      ]);
    });

    it('does not show the secret after 10 minutes, and erases it', async () => {
      const [early, late] = [newKey(), newKey()];
      const body = (key: string) => ({ name: `aged-${key}`, ...reach });
      for (const key of [early, late]) await post('/v1/tokens', body(key), key);
      api.clock.advance(10 * MINUTE_MS - 1);
      expect((await post('/v1/tokens', body(early), early)).status).toBe(201);
      api.clock.advance(1);
      expectError(await post('/v1/tokens', body(late), late), 409, 'idempotency_secret_gone');
      await cleanIdempotencyKeys({ db: api.db, clock: api.clock }, signal);
      expect(await storedText()).not.toContain('sealed');
      expectError(await post('/v1/tokens', body(late), late), 409, 'idempotency_secret_gone');
    });
  });

  it('is deleted when it has expired, and the oldest are dropped and counted above the bounds', async () => {
    const registry = new Registry();
    const droppedKeys = createDroppedKeys(registry);
    const options = { db: api.db, clock: api.clock, droppedKeys };
    const count = async () =>
      Number(
        (await sql<{ n: number }>`SELECT count(*)::int AS n FROM idempotency_keys`.execute(api.db))
          .rows[0]?.n,
      );
    api.clock.advance(DAY_MS);
    await cleanIdempotencyKeys(options, signal);
    expect(await count()).toBe(0);
    const names = ['old', 'middle', 'new'];
    for (const name of names) {
      api.clock.advance(1000);
      await post('/v1/environments', { name: `env-${name}` }, name);
    }
    await cleanIdempotencyKeys(options, signal, { maxKeys: 2, maxBytes: 1e9 });
    expect(await count()).toBe(2);
    await cleanIdempotencyKeys(options, signal, { maxKeys: 2, maxBytes: 150 });
    expect(await count()).toBe(1);
    const kept = await post('/v1/environments', { name: 'env-new' }, 'new');
    expect(kept.status).toBe(201);
    expect((await post('/v1/environments', { name: 'env-old' }, 'old')).status).toBe(409);
    expect(await registry.metrics()).toContain('idempotency_keys_dropped_total 2');
  });
});
