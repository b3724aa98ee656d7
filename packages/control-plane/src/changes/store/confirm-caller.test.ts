import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { FULL, tokenCalls } from '../../../test/tokens.ts';
import type { Database } from '../../store/database.ts';
import { callerConfirmation } from './confirm-caller.ts';

describe('a change and the end of its token', () => {
  let api: TestApi;
  let names = 0;
  let service: { readonly id: string; readonly path: string };

  beforeAll(async () => {
    api = await startTestApi();
    const body = { name: 'base', environment: 'production', url: 'http://a.example' };
    const id = (await api.call('POST', '/v1/services', { body })).json.data?.id ?? '';
    service = { id, path: `/v1/services/${id}` };
  });

  afterAll(async () => {
    await api.close();
  });

  const { make } = tokenCalls(() => api);
  const newToken = () => make({ name: `met-${(names += 1)}`, ...FULL });

  /** Resolves when this number of transactions wait for a lock. */
  const waiting = (count: number) =>
    eventually(async () => {
      const { rows } = await sql<{ waiting: number }>`
        SELECT count(*)::int AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
      `.execute(api.db);
      expect(rows[0]?.waiting).toBe(count);
    });

  /** Holds a lock in a transaction until the returned function is called. */
  async function hold(
    lock: (transaction: Database) => Promise<unknown>,
  ): Promise<() => Promise<void>> {
    const held = Promise.withResolvers<undefined>();
    const released = Promise.withResolvers<undefined>();
    const done = api.db.transaction().execute(async (transaction) => {
      await lock(transaction);
      held.resolve(undefined);
      await released.promise;
    });
    await held.promise;
    return () => {
      released.resolve(undefined);
      return done;
    };
  }

  it('refuses a change whose token is revoked while the change waits for a lock', async () => {
    const token = await newToken();
    const release = await hold((transaction) =>
      sql`SELECT 1 FROM services WHERE id = ${service.id} FOR UPDATE`.execute(transaction),
    );
    const body = { health_path: '/late' };
    const change = api.call('PATCH', service.path, { token: token.secret, body });
    await waiting(1);
    expect((await api.call('DELETE', token.path)).status).toBe(204);
    await release();
    expect((await change).status).toBe(401);
    expect((await api.call('GET', service.path)).json.data).not.toMatchObject(body);
  });

  it('lets a change that confirmed its token end before the revocation', async () => {
    const token = await newToken();
    // As a change that has confirmed its token and is not committed.
    const live = { id: token.id, ...FULL, expires_at: null, isSecretReplaced: false };
    const confirmToken = () => Promise.resolve(live);
    const caller = { tokenId: token.id, confirmToken };
    const release = await hold((transaction) => callerConfirmation(transaction, caller)());
    const revocation = api.call('DELETE', token.path);
    await waiting(1);
    // Another change is not kept waiting by it for ever: it comes after the revocation.
    const body = { health_path: '/later' };
    const change = api.call('PATCH', service.path, { token: token.secret, body });
    await waiting(2);
    await release();
    expect((await revocation).status).toBe(204);
    expect((await change).status).toBe(401);
  });

  it('has an order whatever tokens change each other, and never waits for itself', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, newToken));
    const calls = Array.from({ length: 120 }, (_, index) => {
      const { secret: token, id } = tokens[index % 6] ?? { secret: '', id: '' };
      const other = tokens[(index * 5 + Math.floor(index / 6)) % 6]?.path ?? '';
      const reach = { ...FULL, scopes: ['proxy'] };
      switch (index % 7) {
        case 0:
          return api.call('POST', '/v1/tokens', {
            token,
            body: { ...reach, name: `child-${index}` },
          });
        case 1:
          return api.call('PATCH', service.path, { token, body: { health_path: `/${index}` } });
        case 2:
          return api.call('PATCH', other, { token, body: { name: `renamed-${index % 4}` } });
        case 3:
          return api.call('POST', `${other}/rotate`, { token, body: { grace_seconds: 3600 } });
        case 4:
          return index < 60
            ? api.call('GET', other, { token })
            : api.call('DELETE', other, { token });
        default:
          return api.call('PATCH', `/v1/tokens/${id}`, { token, body: { name: `own-${index}` } });
      }
    });
    const statuses = new Set((await Promise.all(calls)).map(({ status }) => status));
    expect([...statuses].filter((status) => status >= 500)).toEqual([]);
    const changes = await api.db.selectFrom('config_outbox').selectAll().orderBy('id').execute();
    const revocations = changes.filter(({ action }) => action === 'token.revoked');
    expect(revocations.length).toBeGreaterThan(2);
    for (const { id, entity_id } of revocations) {
      const later = changes.filter((change) => change.token_id === entity_id && change.id > id);
      expect(later).toEqual([]);
    }
  });
});
