import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIdFactory } from '@gateway/shared/ids';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createTokenSecret, hashTokenSecretBytes } from '@gateway/shared/tokens/secret';
import { sql } from 'kysely';
import { bootstrap } from './prepare-database.ts';
import { readConfig } from './config.ts';
import { ownOrigin } from './changes/store/change-origin.ts';
import { openTestStore, type TestStore } from '../test/store.ts';
import {
  createToken,
  revokeToken,
  rotateToken,
  updateToken,
} from './tokens/store/change-tokens.ts';
import { findTokenBySecret } from './access/store/find-tokens.ts';

const FOREIGN =
  'GATEWAY_ADMIN_TOKEN is or was the secret of another token; set a secret of its own';

describe('bootstrap', () => {
  let store: TestStore;
  const clock = manualClock(Date.now());
  const newId = createIdFactory(() => clock.nowMs());

  beforeEach(async () => {
    // Creating the partitions takes longer than all else of a start, and is tested elsewhere.
    store = await openTestStore('partitions');
  });

  afterEach(async () => {
    await store.close();
  });

  /** Returns the warnings. */
  async function start(env: Record<string, string>): Promise<string[]> {
    const GATEWAY_MASTER_KEYS = `k1:${randomBytes(32).toString('base64')}`;
    const config = readConfig({ DATABASE_URL: store.url, GATEWAY_MASTER_KEYS, ...env });
    const log = createLogger('test', 'silent');
    const warnings: string[] = [];
    log.warn = (...[given]: unknown[]) => void warnings.push(String(given));
    await bootstrap(config, { db: store.db, clock, newId, log });
    return warnings.filter((text) => text.includes('GATEWAY_ADMIN_TOKEN'));
  }

  /** Creates a token that an operator could create. Returns its secret. */
  async function addToken({
    name,
    environments = ['*'],
  }: {
    readonly name: string;
    readonly environments?: string[];
  }): Promise<string> {
    const secret = createTokenSecret();
    const reach = { environments, routes: ['*'], scopes: ['proxy'] };
    const made = { id: newId('tok'), name, ...reach, expires_at: null, created_by: newId('tok') };
    const secret_sha256 = hashTokenSecretBytes(secret);
    await createToken(store.db, { ...made, secret_sha256 }, ownOrigin(newId));
    return secret;
  }

  /** As `POST /v1/tokens/{id}/rotate` does. */
  const rotate = async (secret: string, graceMs: number) => {
    const next = createTokenSecret();
    const { id = '' } = (await find(secret)) ?? {};
    const graceEnd = new Date(clock.nowMs() + graceMs);
    const rotation = { secretSha256: hashTokenSecretBytes(next), graceEnd };
    await rotateToken(store.db, id, rotation, ownOrigin(newId), () => undefined);
    return next;
  };

  /** A token that a user has named `admin` with an earlier release. */
  async function addNamesake(): Promise<string> {
    const secret = await addToken({ name: 'namesake' });
    await store.db.transaction().execute(async (transaction) => {
      await sql`SET LOCAL session_replication_role = replica`.execute(transaction);
      await sql`UPDATE tokens SET name = 'admin' WHERE name = 'namesake'`.execute(transaction);
    });
    return secret;
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

  describe('with the admin token renamed', () => {
    const renamed = async (name: string) => {
      const secret = createTokenSecret();
      await start({ GATEWAY_ADMIN_TOKEN: secret });
      const { id = '' } = (await find(secret)) ?? {};
      const origin = ownOrigin(newId);
      await updateToken(store.db, id, origin, { name }, () => undefined);
      return { secret, id };
    };

    it('starts, and keeps the token and its name', async () => {
      const { secret, id } = await renamed('root');
      const before = await changes();
      await start({ GATEWAY_ADMIN_TOKEN: secret });
      expect((await find(secret))?.id).toBe(id);
      expect(await changes()).toBe(before);
    });

    it('replaces its secret, also if another token is named admin', async () => {
      const { secret, id } = await renamed('root');
      const other = await addNamesake();
      const next = createTokenSecret();
      await start({ GATEWAY_ADMIN_TOKEN: next });
      expect(await find(secret)).toBeUndefined();
      expect((await find(next))?.id).toBe(id);
      expect((await find(other))?.scopes).toEqual(['proxy']);
    });

    it('creates another one beside a token that has the name', async () => {
      const { id } = await renamed('root');
      await revokeToken(store.db, id, ownOrigin(newId), () => undefined);
      await addNamesake();
      const next = createTokenSecret();
      await start({ GATEWAY_ADMIN_TOKEN: next });
      expect((await find(next))?.scopes).toEqual(['*']);
    });
  });

  it('gives the secret of another token no rights', async () => {
    const first = createTokenSecret();
    await start({ GATEWAY_ADMIN_TOKEN: first });
    const other = await addToken({ name: 'billing' });
    expect(await start({ GATEWAY_ADMIN_TOKEN: other })).toEqual([FOREIGN]);
    const present = await rotate(other, 60_000);
    expect(await start({ GATEWAY_ADMIN_TOKEN: other })).toEqual([FOREIGN]);
    expect((await find(present))?.scopes).toEqual(['proxy']);
    expect((await find(first))?.scopes).toEqual(['*']);
  });

  it('lets no other token take the name of the admin token', async () => {
    await start({ GATEWAY_ADMIN_TOKEN: createTokenSecret() });
    const taken = { code: 'name_conflict', message: expect.stringContaining('reserved') };
    await expect(addToken({ name: 'admin', environments: ['production'] })).rejects.toMatchObject(
      taken,
    );
    const secret = await addToken({ name: 'other' });
    const { id = '' } = (await find(secret)) ?? {};
    const renamed = updateToken(store.db, id, ownOrigin(newId), { name: 'admin' }, () => undefined);
    await expect(renamed).rejects.toMatchObject(taken);
  });

  it('says that the admin token has expired', async () => {
    const secret = createTokenSecret();
    await start({ GATEWAY_ADMIN_TOKEN: secret });
    const { id = '' } = (await find(secret)) ?? {};
    const expires_at = new Date(clock.nowMs() + 60_000);
    await updateToken(store.db, id, ownOrigin(newId), { expires_at }, () => undefined);
    clock.advance(60_000);
    expect(await start({ GATEWAY_ADMIN_TOKEN: secret })).toEqual([
      'GATEWAY_ADMIN_TOKEN has expired; set another one',
    ]);
  });

  it('keeps the expiry of the admin token', async () => {
    const secret = createTokenSecret();
    await start({ GATEWAY_ADMIN_TOKEN: secret });
    const { id = '' } = (await find(secret)) ?? {};
    const expires_at = new Date(clock.nowMs() + 60_000);
    await updateToken(store.db, id, ownOrigin(newId), { expires_at }, () => undefined);
    await start({ GATEWAY_ADMIN_TOKEN: secret });
    expect((await find(secret))?.expires_at).toEqual(expires_at);
  });

  describe('with a secret that was replaced', () => {
    const REPLACED = [
      'GATEWAY_ADMIN_TOKEN was replaced by a newer secret; set it to the newest one, or to a new one',
    ];
    it.each([
      ['within its grace period', 1, 60_000],
      ['after a rotation without grace', 1, 0],
      ['after two rotations', 2, 60_000],
    ])('does not bring it back %s', async (_when, rotations, graceMs) => {
      const first = createTokenSecret();
      await start({ GATEWAY_ADMIN_TOKEN: first });
      let present = first;
      for (let count = 0; count < rotations; count += 1) present = await rotate(present, graceMs);
      const before = await changes();
      expect(await start({ GATEWAY_ADMIN_TOKEN: first })).toEqual(REPLACED);
      expect(await changes()).toBe(before);
      expect((await find(present))?.secretExpiresAt).toBeNull();
      const old = await find(first);
      expect(old === undefined || old.secretExpiresAt !== null).toBe(true);
      // What the line says to do.
      expect(await start({ GATEWAY_ADMIN_TOKEN: present })).toEqual([]);
      expect((await find(present))?.scopes).toEqual(['*']);
    });

    it('does not bring back one that the variable has replaced', async () => {
      const [first, second] = [createTokenSecret(), createTokenSecret()];
      await start({ GATEWAY_ADMIN_TOKEN: first });
      await start({ GATEWAY_ADMIN_TOKEN: second });
      expect(await start({ GATEWAY_ADMIN_TOKEN: first })).toEqual(REPLACED);
      expect(await find(first)).toBeUndefined();
      expect((await find(second))?.scopes).toEqual(['*']);
    });

    it('does not bring back that of a token which was revoked since', async () => {
      const first = createTokenSecret();
      await start({ GATEWAY_ADMIN_TOKEN: first });
      const present = await rotate(first, 0);
      const { id = '' } = (await find(present)) ?? {};
      await revokeToken(store.db, id, ownOrigin(newId), () => undefined);
      expect(await start({ GATEWAY_ADMIN_TOKEN: first })).toEqual(REPLACED);
      expect(await find(first)).toBeUndefined();
    });
  });

  it('creates no token if none is configured', async () => {
    await start({});
    expect(await store.db.selectFrom('tokens').select('id').execute()).toEqual([]);
  });
});
