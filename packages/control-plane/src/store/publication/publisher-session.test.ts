import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@gateway/local-stack/test/test-database';
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
});
