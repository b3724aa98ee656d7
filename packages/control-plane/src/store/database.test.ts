import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@gateway/testing/test-database';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { sql } from 'kysely';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';
import { openDatabase, type Database, type OpenDatabase } from './database.ts';
import { isUnavailable } from './failures.ts';

describe('the pool', () => {
  let testDatabase: TestDatabase;
  let gate: TcpGate;
  let opened: OpenDatabase;

  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    const url = new URL(testDatabase.url);
    gate = await openTcpGate(Number(url.port));
    url.port = String(gate.port);
    opened = openDatabase({
      url: url.href,
      log: createLogger('test', 'silent'),
      maxConnections: 1,
      statementTimeoutMs: 200,
      transactionIdleMs: 300,
    });
  });

  afterEach(async () => {
    await opened.close();
    await gate.close();
    await testDatabase.drop();
  });

  const ask = () => sql<{ one: number }>`SELECT 1 AS one`.execute(opened.db);

  it('reads a bigint as a number, and refuses one beyond 2^53', async () => {
    const { rows } = await sql<{ big: unknown }>`SELECT 9007199254740991 AS big`.execute(opened.db);
    expect(rows).toEqual([{ big: 9_007_199_254_740_991 }]);
    const beyond = sql`SELECT 9007199254740993 AS big`.execute(opened.db);
    await expect(beyond).rejects.toThrow(/beyond/);
  });

  it('cancels a statement that takes too long, which counts as unavailable', async () => {
    const error: unknown = await sql`SELECT pg_sleep(60)`
      .execute(opened.db)
      .catch((e: unknown) => e);
    expect(isUnavailable(error)).toBe(true);
    expect((await ask()).rows).toEqual([{ one: 1 }]);
  });

  it('does not reuse a connection that gave no answer', async () => {
    await ask();
    await gate.set('stalled');
    const error: unknown = await ask().catch((e: unknown) => e);
    expect(isUnavailable(error)).toBe(true);
    await gate.set('open');
    expect((await ask()).rows).toEqual([{ one: 1 }]);
  });

  it('releases the locks of a transaction whose process is suspended', async () => {
    await sql`CREATE TABLE counts (count integer); INSERT INTO counts VALUES (0)`.execute(
      opened.db,
    );
    const add = (db: Database) => sql`UPDATE counts SET count = count + 1`.execute(db);
    const other = openDatabase({
      url: testDatabase.url,
      log: createLogger('test', 'silent'),
      statementTimeoutMs: 200,
    });
    const waits = Promise.withResolvers<undefined>();
    const held = opened.db.transaction().execute(async (transaction) => {
      await add(transaction);
      await gate.set('stalled');
      await waits.promise;
      await add(transaction);
    });
    const ended = held.catch((e: unknown) => e);
    try {
      await eventually(() => add(other.db));
      await gate.set('open');
      waits.resolve(undefined);
      expect(isUnavailable(await ended)).toBe(true);
    } finally {
      waits.resolve(undefined);
      await ended;
      await other.close();
    }
    expect((await ask()).rows).toEqual([{ one: 1 }]);
  });

  it('survives the loss of its connections, used and idle', async () => {
    await ask();
    const lost = opened.db.transaction().execute(async (transaction) => {
      await sql`SELECT 1`.execute(transaction);
      await gate.set('shut');
      await sql`SELECT 1`.execute(transaction);
    });
    const error: unknown = await lost.catch((e: unknown) => e);
    expect(isUnavailable(error)).toBe(true);
    expect(isUnavailable(await ask().catch((e: unknown) => e))).toBe(true);
    await gate.set('open');
    await eventually(ask);
  });
});
