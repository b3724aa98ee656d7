import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import pg from 'pg';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';
import { untilEnded } from '../../../test/until-ended.ts';
import { CHANGE_WAIT_MS } from '../../changes/store/repeat-change.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

let api: TestApi;
let services = 0;
let service: { readonly id: string; readonly name: string; readonly path: string };
let other: pg.Client;

beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

beforeEach(async () => {
  service = await newService();
  other = new pg.Client(api.databaseUrl);
  await other.connect();
});

afterEach(() => other.end());

async function newService() {
  const name = `service-${(services += 1)}`;
  const body = { name, environment: 'production', url: 'http://a.example' };
  const id = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
  return { id, name, path: `/v1/services/${id}` };
}

async function newRoute(): Promise<string> {
  const body = { name: `of-${service.name}`, service_id: service.id };
  return (await api.call('POST', '/v1/routes', { body })).headers.get('location') ?? '';
}

/** Holds the lock of an apply, as one that takes long does. */
async function beginApply(): Promise<void> {
  await other.query('BEGIN');
  await other.query(`SELECT pg_advisory_xact_lock(${LOCK_CLASS.configuration}, 0)`);
}

const patch = (body: object) => api.call('PATCH', service.path, { body });
const document = (path: string, services = [service]) => ({
  services: services.map(({ name }) => ({ name, url: 'http://a.example', health_path: path })),
});
const apply = (body: object, headers = {}) =>
  api.call('POST', '/v1/environments/production/apply', { body, headers });

/** How many transactions of the API there are, and how many of them wait for a lock. */
async function transactions() {
  const { rows } = await sql<{ open: number; waiting: number }>`
    SELECT count(*)::int AS open, count(*) FILTER (WHERE wait_event_type = 'Lock')::int AS waiting
    FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
      AND pid <> pg_backend_pid() AND application_name = 'gateway-control-plane'
  `.execute(api.db);
  return rows[0];
}

/** Resolves when a transaction of the API waits for a lock. */
const waiting = () =>
  eventually(async () => {
    api.clock.advance(50);
    expect((await transactions())?.waiting).toBe(1);
  });

const statuses = (answers: readonly Answer[]) => [...new Set(answers.map(({ status }) => status))];

describe('a change while an apply runs', () => {
  it('waits for its end without a connection, except one apply, so reads are answered meanwhile', async () => {
    await beginApply();
    // More than the pool has connections.
    const single = Array.from({ length: 24 }, (_, at) =>
      at % 2 === 0
        ? patch({ health_path: `/${at}` })
        : api.call('PUT', '/v1/services/put?environment=production', {
            body: { url: 'http://a.example', health_path: `/${at}` },
          }),
    );
    const applies = ['/1', '/2', '/3'].map((path) => apply(document(path)));
    const changes = Promise.all([...single, ...applies]);
    const reads = await Promise.all(Array.from({ length: 5 }, () => api.call('GET', service.path)));
    expect(statuses(reads)).toEqual([200]);
    await waiting();
    for (let tries = 0; tries < 10; tries += 1) {
      api.clock.advance(50);
      expect((await transactions())?.waiting).toBeLessThanOrEqual(1);
    }
    await other.query('COMMIT');
    expect(statuses(await untilEnded(api, changes)).toSorted()).toEqual([200, 201]);
  });

  it.each([
    ['PATCH', () => patch({ health_path: '/late' })],
    ['apply', () => apply(document('/late'))],
    [
      'apply with an idempotency key',
      () => apply(document('/late'), { 'idempotency-key': 'busy' }),
    ],
  ])('%s is refused with the reason after its deadline, and was not made', async (_way, call) => {
    await beginApply();
    const answer = await untilEnded(api, call(), CHANGE_WAIT_MS / 4);
    expect([answer.status, answer.headers.get('retry-after'), answer.json.error]).toMatchObject([
      503,
      '1',
      { message: 'Another change of the configuration is running. This one was not made.' },
    ]);
    await other.query('COMMIT');
    const { json } = await api.call('GET', service.path);
    expect(json.data).toMatchObject({ revision: 1 });
  });
});

describe('a PATCH that waits', () => {
  it.each(['services', 'routes'])(
    'changes what its body has, also if that changed meanwhile: %s',
    async (kind) => {
      const body = kind === 'services' ? { health_path: '/healthz' } : { timeout_ms: 10_000 };
      const [field, value] = Object.entries(body)[0] ?? [];
      const path = kind === 'services' ? service.path : await newRoute();
      await other.query('BEGIN');
      await other.query(`SELECT FROM ${kind} WHERE id = $1 FOR UPDATE`, [path.split('/').at(-1)]);
      const change = api.call('PATCH', path, { body });
      await waiting();
      const meanwhile = kind === 'services' ? `health_path = '/meanwhile'` : 'timeout_ms = 7';
      await other.query(`UPDATE ${kind} SET ${meanwhile}, revision = 2 WHERE id = $1`, [
        path.split('/').at(-1),
      ]);
      await other.query('COMMIT');
      const { json } = await change;
      expect([json.data?.['revision'], json.data?.[field ?? '']]).toEqual([3, value]);
    },
  );

  it.each(['PATCH', 'DELETE'])(
    'is refused if its route got a name that the token does not cover: %s',
    async (method) => {
      const path = await newRoute();
      const scopes = ['routes:read', 'routes:write'];
      const reach = { environments: ['production'], routes: [`of-${service.name}`], scopes };
      const token = await api.makeToken({ name: `of ${service.name}`, ...reach });
      await other.query('BEGIN');
      await other.query(`UPDATE routes SET name = 'another-name' WHERE name = $1`, reach.routes);
      const call = api.call(method, path, {
        token,
        ...(method === 'PATCH' && { body: { name: reach.routes[0] } }),
      });
      await waiting();
      await other.query('COMMIT');
      expect((await call).status).toBe(401);
      await api.call('DELETE', path);
    },
  );

  it('is not made if its caller has gone', async () => {
    const caller = new AbortController();
    await beginApply();
    const call = api.call('POST', '/v1/environments/production/apply', {
      body: document('/gone'),
      signal: caller.signal,
    });
    await waiting();
    caller.abort();
    await expect(call).rejects.toThrow(/abort/);
    await eventually(async () => expect(await api.registry.metrics()).toContain('status="0"'));
    await other.query('COMMIT');
    await eventually(async () => expect((await transactions())?.open).toBe(0));
    const { json } = await api.call('GET', service.path);
    expect(json.data).toMatchObject({ revision: 1 });
  });
});

describe('an apply', () => {
  it('is planned before it waits: a fault of the document is answered at once', async () => {
    await beginApply();
    const answer = await apply({ routes: [{ name: 'r', service: 'nowhere' }] });
    expect(answer.status).toBe(400);
  });

  it.each([
    ['a setting', `health_path = '/meanwhile', revision = revision + 1`],
    // As a re-encryption leaves it.
    ['no revision', `limits = jsonb_set(limits, '{max_in_flight}', '7')`],
  ])('is planned again if a row changed while it waited: %s', async (_what, change) => {
    await beginApply();
    const applied = apply(document('/applied'));
    await waiting();
    await other.query(`UPDATE services SET ${change} WHERE id = '${service.id}'`);
    await other.query('COMMIT');
    expect((await untilEnded(api, applied)).status).toBe(200);
    const { rows } = await sql<{ before: unknown; now: unknown }>`
      SELECT before->>'health_path' AS path, before->'limits'->'max_in_flight' AS limit,
        before->'revision' AS revision
      FROM config_outbox WHERE action = 'service.updated' AND entity_id = ${service.id}
    `.execute(api.db);
    const isSetting = change.includes('meanwhile');
    expect(rows).toEqual([
      isSetting
        ? { path: '/meanwhile', limit: null, revision: 2 }
        : { path: '/healthz', limit: 7, revision: 1 },
    ]);
    const { json } = await api.call('GET', service.path);
    expect(json.data).toMatchObject({
      health_path: '/applied',
      limits: { max_in_flight: null },
      revision: isSetting ? 3 : 2,
    });
  });
});

describe('an apply while it waits', () => {
  it('is planned again if a route changed', async () => {
    const path = await newRoute();
    const route = { name: `of-${service.name}`, service: service.name, timeout_ms: 5 };
    await beginApply();
    const applied = apply({ routes: [route] });
    await waiting();
    await other.query(`UPDATE routes SET timeout_ms = 7, revision = 2 WHERE name = $1`, [
      route.name,
    ]);
    await other.query('COMMIT');
    const { json } = await untilEnded(api, applied);
    expect(json.data?.['changes']).toMatchObject([
      { fields: [{ path: '/timeout_ms', before: 7, after: 5 }] },
    ]);
    expect((await api.call('GET', path)).json.data).toMatchObject({ timeout_ms: 5, revision: 3 });
  });

  it('is refused if another version than if_version is the newest then', async () => {
    const version = await api.publish('production');
    await beginApply();
    const applied = apply({ ...document('/late'), if_version: version });
    await waiting();
    await other.query(
      `UPDATE environments SET config_version = config_version + 1 WHERE name = 'production'`,
    );
    await other.query('COMMIT');
    expect((await untilEnded(api, applied)).status).toBe(412);
  });
});

describe('a change that Postgres ends because of a deadlock', () => {
  it.each([
    ['without a key', {}],
    ['with a key', { 'idempotency-key': 'deadlock' }],
  ])('is made again %s, once', async (_what, headers) => {
    const both = [service, await newService()];
    const [first, last] = both.map(({ id }) => id).toSorted();
    // Postgres ends the transaction whose wait becomes too long first: not this one.
    await other.query(`SET deadlock_timeout = '1min'`);
    await other.query('BEGIN');
    await other.query(`SELECT FROM services WHERE id = $1 FOR UPDATE`, [last]);
    const change = apply(document('/new', both), headers);
    await waiting();
    await other.query(`SELECT FROM services WHERE id = $1 FOR UPDATE`, [first]);
    await other.query('COMMIT');
    const answer = await untilEnded(api, change);
    expect([answer.status, answer.text]).toMatchObject([
      200,
      expect.stringContaining('"updated":2'),
    ]);
    const outbox = await api.db
      .selectFrom('config_outbox')
      .select('entity_id')
      .where('action', '=', 'service.updated')
      .where(
        'entity_id',
        'in',
        both.map(({ id }) => id),
      )
      .execute();
    expect(outbox.map(({ entity_id }) => entity_id).toSorted()).toEqual([first, last]);
  });
});
