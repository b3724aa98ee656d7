import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '@gateway/testing/test-database';
import { eventually } from '@gateway/shared/test/eventually';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';
import { createPublisherSession, type PublisherSession } from './publisher-session.ts';

const LOCK_IDLE_MS = 1000;
const IGNORED = { changed: () => undefined, published: () => undefined };

describe('the publisher session', () => {
  let database: TestDatabase;
  let gate: TcpGate;
  /** Its connection goes through the gate, which can stop forwarding without closing it. */
  let one: PublisherSession;
  let other: PublisherSession;

  beforeEach(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    gate = await openTcpGate(Number(url.port));
    url.port = String(gate.port);
    one = createPublisherSession(url.href, IGNORED, LOCK_IDLE_MS);
    other = createPublisherSession(database.url, IGNORED, LOCK_IDLE_MS);
  });
  afterEach(async () => {
    await gate.set('shut');
    await one.close();
    await other.close();
    await gate.close();
    await database.drop();
  });

  it('loses its locks while its process is suspended, and another session takes them', async () => {
    expect(await one.tryLock('production')).toBe(true);
    expect(await other.tryLock('production')).toBe(false);
    await gate.set('stalled');
    await eventually(async () => expect(await other.tryLock('production')).toBe(true));
  });

  it('is not ended while it is idle without a lock', async () => {
    expect(await one.tryLock('production')).toBe(true);
    expect(await one.tryLock('development')).toBe(true);
    await one.unlock('production');
    await one.unlock('development');
    expect(await other.tryLock('production')).toBe(true);
    // The other session holds its lock and is idle, so Postgres ends it.
    const third = createPublisherSession(database.url, IGNORED, LOCK_IDLE_MS);
    try {
      await eventually(async () => expect(await third.tryLock('production')).toBe(true));
    } finally {
      await third.close();
    }
    expect(await one.ensureConnected()).toBe(false);
  });

  it('loses one of two locks after it released the other one', async () => {
    expect(await one.tryLock('production')).toBe(true);
    expect(await one.tryLock('development')).toBe(true);
    await one.unlock('production');
    await gate.set('stalled');
    await eventually(async () => expect(await other.tryLock('development')).toBe(true));
  });

  it('loses a lock that it took while it released another one', async () => {
    expect(await one.tryLock('production')).toBe(true);
    const taking = one.tryLock('development');
    // Its statement is sent now, and not answered.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await Promise.all([taking, one.unlock('production')]);
    expect(await taking).toBe(true);
    await gate.set('stalled');
    await eventually(async () => expect(await other.tryLock('development')).toBe(true));
  });

  it('runs one statement at a time, however many publications use it', async () => {
    const environments = ['a', 'b', 'c', 'd'];
    await other.ensureConnected();
    const most = await mostStatementsAtOnce(async () => {
      await Promise.all([
        other.ensureConnected(),
        ...environments.map((name) => other.tryLock(name)),
      ]);
      await Promise.all([
        other.ensureConnected(),
        ...environments.map((name) => other.unlock(name)),
      ]);
    });
    expect(most).toBe(1);
  });
});

/** The largest number of statements that a client of Postgres had to run at once during `work`. */
async function mostStatementsAtOnce(work: () => Promise<void>): Promise<number> {
  const original = Reflect.get(pg.Client.prototype, 'query');
  const running = new WeakMap<object, number>();
  let most = 0;
  const change = (client: object, by: number) => {
    const count = (running.get(client) ?? 0) + by;
    running.set(client, count);
    most = Math.max(most, count);
  };
  Reflect.set(pg.Client.prototype, 'query', async function (this: pg.Client, ...given: unknown[]) {
    change(this, 1);
    try {
      return await (Reflect.apply(original, this, given) as Promise<unknown>);
    } finally {
      change(this, -1);
    }
  });
  try {
    await work();
  } finally {
    Reflect.set(pg.Client.prototype, 'query', original);
  }
  return most;
}
