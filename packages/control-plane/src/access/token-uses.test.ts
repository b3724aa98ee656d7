import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { createIdFactory } from '@gateway/shared/ids';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { ownOrigin } from '../changes/store/change-origin.ts';
import { createToken } from '../tokens/store/change-tokens.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { startTokenUses, type TokenUses } from './token-uses.ts';

const log = createLogger('test', 'silent');
const START = Date.UTC(2030, 0, 1);

describe('the last use of a token', () => {
  let store: TestStore;
  let clock: ReturnType<typeof manualClock>;
  let newId: ReturnType<typeof createIdFactory>;
  let registry: Registry;
  const started: TokenUses[] = [];

  beforeEach(async () => {
    store = await openTestStore();
    clock = manualClock(START);
    newId = createIdFactory(() => clock.nowMs());
    registry = new Registry();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((uses) => uses.stop()));
    await store.close();
  });

  function start(maxTokens?: number): TokenUses {
    const bound = maxTokens === undefined ? {} : { maxTokens };
    const uses = startTokenUses({ db: store.db, clock, log, registry, ...bound });
    started.push(uses);
    return uses;
  }

  async function makeToken(): Promise<string> {
    const id = newId('tok');
    const reach = { environments: ['*'], routes: ['*'], scopes: ['proxy'] };
    const token = { id, name: id, ...reach, expires_at: null, created_by: null };
    await createToken(store.db, { ...token, secret_sha256: randomBytes(32) }, ownOrigin(newId));
    return id;
  }

  /** The stored use, and the row version, which each write changes. */
  async function stored(id: string): Promise<{ at: number | undefined; version: string }> {
    const row = await store.db
      .selectFrom('tokens')
      .select((eb) => ['last_used_at', eb.cast<string>(eb.ref('ctid' as 'id'), 'text').as('ctid')])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return { at: row.last_used_at?.getTime(), version: row.ctid };
  }

  it('is written within seconds, and at most once a minute', async () => {
    const uses = start();
    const id = await makeToken();
    expect((await stored(id)).at).toBeUndefined();
    uses.note(id, clock.nowMs());
    clock.advance(5000);
    await eventually(async () => expect((await stored(id)).at).toBe(START));
    const { version } = await stored(id);
    for (let second = 0; second < 50; second += 1) {
      uses.note(id, clock.nowMs());
      clock.advance(1000);
    }
    expect(await stored(id)).toEqual({ at: START, version });
    clock.advance(10_000);
    uses.note(id, clock.nowMs());
    const laterMs = clock.nowMs();
    await eventually(async () => {
      clock.advance(5000);
      expect((await stored(id)).at).toBe(laterMs);
    });
  });

  it('is written once a minute by all control planes together', async () => {
    const id = await makeToken();
    const first = start();
    first.note(id, START);
    clock.advance(5000);
    await eventually(async () => expect((await stored(id)).at).toBe(START));
    const before = await stored(id);
    registry = new Registry();
    const second = start();
    second.note(id, START + 4000);
    await second.stop();
    expect(await stored(id)).toEqual(before);
  });

  it('never goes back, and is never in the future', async () => {
    const id = await makeToken();
    const uses = start();
    uses.note(id, START + 3_600_000);
    uses.note(id, START - 3_600_000);
    await uses.stop();
    expect((await stored(id)).at).toBe(START);
    registry = new Registry();
    const again = start();
    again.note(id, START - 3_600_000);
    await again.stop();
    expect((await stored(id)).at).toBe(START);
  });

  it('is written at a stop', async () => {
    const id = await makeToken();
    const uses = start();
    uses.note(id, START);
    await uses.stop();
    expect((await stored(id)).at).toBe(START);
  });

  it('waits for a bounded number of tokens, and counts the dropped ones', async () => {
    const ids = await Promise.all([makeToken(), makeToken(), makeToken()]);
    const uses = start(2);
    for (const id of ids) uses.note(id, START);
    await uses.stop();
    const times = await Promise.all(ids.map(async (id) => (await stored(id)).at));
    expect(times).toEqual([START, START, undefined]);
    expect(await registry.metrics()).toContain('gateway_control_plane_token_uses_dropped_total 1');
  });

  it('of an unknown token is ignored', async () => {
    const uses = start();
    uses.note(newId('tok'), START);
    await expect(uses.stop()).resolves.toBeUndefined();
  });
});
