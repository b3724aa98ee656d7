import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { sql } from 'kysely';
import pg from 'pg';
import { openUnmigratedDatabase, type UnmigratedDatabase } from '../../test/unmigrated-database.ts';
import { awaitPostgres } from './await-postgres.ts';
import { migrate } from './migrate.ts';

const LOCK_TIMEOUT_MS = 100;
/** The next one changes the table `tokens`. */
const BEFORE = '0013_environment_identity';
const NEXT = '0014_token_names_and_replaced_secrets';

describe('a migration beside a reader', () => {
  let database: UnmigratedDatabase;
  let reader: pg.Client;
  let other: pg.Client;
  beforeEach(async () => {
    database = await openUnmigratedDatabase();
    await database.migrateTo(BEFORE);
    reader = new pg.Client({ connectionString: database.url });
    other = new pg.Client({ connectionString: database.url, statement_timeout: 3000 });
    await reader.connect();
    await other.connect();
  });
  afterEach(async () => {
    await reader.end();
    await other.end();
    await database.close();
  });

  const applied = async () =>
    (await sql`SELECT FROM kysely_migration WHERE name = ${NEXT}`.execute(database.db)).rows.length;

  it('gives up soon, so that other readers of the table wait only as long', async () => {
    await reader.query('BEGIN; SELECT FROM tokens');
    const migrating = migrate(database.url, LOCK_TIMEOUT_MS).catch((error: unknown) => error);
    await eventually(async () => {
      const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass';
      expect((await other.query(waiting, ['tokens'])).rowCount).toBe(1);
    });
    await other.query('SELECT FROM tokens');
    expect(await migrating).toMatchObject({ code: '55P03' });
    expect(await applied()).toBe(0);
    await reader.query('COMMIT');
    await migrate(database.url, LOCK_TIMEOUT_MS);
    expect(await applied()).toBe(1);
  });

  it('is tried again until the reader has ended', async () => {
    const clock = manualClock(0);
    const faults: string[] = [];
    await reader.query('BEGIN; SELECT FROM tokens');
    const migrated = awaitPostgres(() => migrate(database.url, LOCK_TIMEOUT_MS), {
      clock,
      log: createLogger('test', 'silent'),
      signal: new AbortController().signal,
      onFault: (reason) => faults.push(reason),
    });
    await eventually(() => expect(faults).toHaveLength(1));
    clock.advance(7999);
    expect(faults).toEqual(['canceling statement due to lock timeout']);
    await reader.query('COMMIT');
    clock.advance(1);
    await migrated;
    expect(await applied()).toBe(1);
  });

  it('does not bound the wait for another replica that migrates', async () => {
    await reader.query('BEGIN; LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE');
    const first = migrate(database.url, 60_000);
    await eventually(async () => {
      const waiting = 'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass';
      expect((await other.query(waiting, ['tokens'])).rowCount).toBe(1);
    });
    const second = migrate(database.url, 1);
    await eventually(async () => {
      const waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'";
      expect((await other.query(waiting)).rowCount).toBe(1);
    });
    await reader.query('COMMIT');
    await Promise.all([first, second]);
    expect(await applied()).toBe(1);
  });
});
