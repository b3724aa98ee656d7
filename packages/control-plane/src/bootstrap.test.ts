import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createTokenSecret, hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import { sql } from 'kysely';
import { bootstrap } from './bootstrap.ts';
import { readConfig } from './config.ts';
import { ownOrigin } from './domain/audit-event.ts';
import { openTestStore, type TestStore } from '../test/store.ts';
import { revokeToken } from './store/tokens/change-tokens.ts';
import { findTokenBySecret } from './store/tokens/find-tokens.ts';

describe('bootstrap', () => {
  let store: TestStore;
  const clock = manualClock();
  const newId = createIdFactory(() => clock.nowMs());

  beforeEach(async () => {
    store = await openTestStore();
  });

  afterEach(async () => {
    await store.close();
  });

  function start(env: Record<string, string>): Promise<void> {
    const GATEWAY_MASTER_KEYS = `k1:${randomBytes(32).toString('base64')}`;
    const config = readConfig({ DATABASE_URL: store.url, GATEWAY_MASTER_KEYS, ...env });
    return bootstrap(config, { db: store.db, clock, newId, log: createLogger('test', 'silent') });
  }

  const find = (secret: string) => findTokenBySecret(store.db, hashTokenSecretBytes(secret));
  const environments = async () =>
    (await store.db.selectFrom('environments').select('name').orderBy('name').execute()).map(
      (row) => row.name,
    );
  const changes = async () =>
    (await store.db.selectFrom('config_outbox').select('environment').execute()).length;

  it('creates the environments and the admin token once, with several replicas at the same time', async () => {
    const token = createTokenSecret();
    const env = { GATEWAY_ADMIN_TOKEN: token, DEFAULT_ENVIRONMENT: 'staging' };
    await Promise.all([start(env), start(env), start(env)]);
    expect(await environments()).toEqual(['development', 'production', 'staging']);
    expect(await find(token)).toMatchObject({ environments: ['*'], routes: ['*'], scopes: ['*'] });
    const tokens = await store.db.selectFrom('tokens').select('name').execute();
    expect(tokens).toEqual([{ name: 'admin' }]);
  });

  it('writes an audit event without a token for each resource that it creates, and none for existing ones', async () => {
    const env = { GATEWAY_ADMIN_TOKEN: createTokenSecret(), DEFAULT_ENVIRONMENT: 'staging' };
    await Promise.all([start(env), start(env)]);
    await start(env);
    const { rows } = await sql`
      SELECT action, resource_id, token_id, client_ip, request_id FROM audit_events
      ORDER BY action, resource_id
    `.execute(store.db);
    const nobody = { token_id: null, client_ip: null, request_id: null };
    expect(rows).toEqual([
      { action: 'environment.created', resource_id: 'development', ...nobody },
      { action: 'environment.created', resource_id: 'production', ...nobody },
      { action: 'environment.created', resource_id: 'staging', ...nobody },
      { action: 'token.created', resource_id: expect.stringMatching(/^tok_/), ...nobody },
    ]);
  });

  it('publishes nothing if everything exists', async () => {
    const env = { GATEWAY_ADMIN_TOKEN: createTokenSecret() };
    await start(env);
    const before = await changes();
    await start(env);
    expect(await changes()).toBe(before);
  });

  it('replaces the secret of the admin token, and publishes that to every environment', async () => {
    const [first, second] = [createTokenSecret(), createTokenSecret()];
    await start({ GATEWAY_ADMIN_TOKEN: first });
    const made = await find(first);
    const before = await changes();
    await start({ GATEWAY_ADMIN_TOKEN: second });
    expect(await find(first)).toBeUndefined();
    expect((await find(second))?.id).toBe(made?.id);
    expect(await changes()).toBe(before + 2);
  });

  it('does not accept a revoked secret again, but accepts a new one', async () => {
    const token = createTokenSecret();
    await start({ GATEWAY_ADMIN_TOKEN: token });
    const id = (await find(token))?.id ?? '';
    await revokeToken(store.db, id, ownOrigin(newId), () => undefined);
    await start({ GATEWAY_ADMIN_TOKEN: token });
    expect(await find(token)).toBeUndefined();
    const next = createTokenSecret();
    await start({ GATEWAY_ADMIN_TOKEN: next });
    expect((await find(next))?.scopes).toEqual(['*']);
  });

  it('creates no token if none is configured', async () => {
    await start({});
    expect(await store.db.selectFrom('tokens').select('id').execute()).toEqual([]);
  });
});
