import { startPostgresPair, type PostgresPair } from '@gateway/testing/postgres-pair';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readConfiguration } from '../../configuration/store/configuration-rows.ts';
import { openDatabase, type OpenDatabase } from '../database.ts';
import { isUnavailable, CommitUnknownError } from '../failures.ts';
import { migrate } from '../migrate.ts';
import {
  createPublisherSession,
  type PublisherSession,
} from '../../publish/store/publisher-session.ts';

const log = createLogger('test', 'silent');
const STATEMENT_TIMEOUT_MS = 1000;

/** The tests follow each other: the primary is killed in the fourth, the standby takes over in the fifth. */
describe('a database URL with a primary and a standby', () => {
  let pair: PostgresPair;
  let opened: OpenDatabase;
  let session: PublisherSession;
  const changed: string[] = [];

  beforeAll(async () => {
    pair = await startPostgresPair();
    opened = openDatabase({
      url: pair.url(),
      log,
      maxConnections: 2,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    const events = { changed: (name: string) => changed.push(name), published: () => undefined };
    session = createPublisherSession(pair.url(), events);
  }, 60_000);
  afterAll(async () => {
    await session.close();
    await opened.close();
    await pair.close();
  });

  const add = (number: number) => sql`INSERT INTO numbers VALUES (${number})`.execute(opened.db);
  const numbers = async () => {
    const { rows } = await sql<{ number: number }>`SELECT number FROM numbers`.execute(opened.db);
    return rows.map(({ number }) => number);
  };
  const onStandby = async (call: string) => {
    const standby = openDatabase({ url: pair.standby.url, log });
    try {
      await sql.raw(`SELECT ${call}`).execute(standby.db);
    } finally {
      await standby.close();
    }
  };
  const failureOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

  it('leads migrations, the pool and the session past a standby that is named first', async () => {
    const [scheme, rest] = pair.url().split('@');
    const [hosts = '', tail] = rest?.split('/') ?? [];
    const reversed = `${scheme}@${hosts.split(',').toReversed().join(',')}/${tail}`;
    await migrate(reversed);
    await sql`CREATE TABLE numbers (number integer)`.execute(opened.db);
    const other = openDatabase({ url: reversed, log });
    const events = { changed: () => undefined, published: () => undefined };
    const behind = createPublisherSession(reversed, events);
    try {
      await sql`INSERT INTO numbers VALUES (1)`.execute(other.db);
      expect(await behind.tryLock('production')).toBe(true);
      expect(await session.tryLock('production')).toBe(false);
    } finally {
      await behind.close();
      await other.close();
    }
  });

  it('is refused if its only server is a standby and writes are required', async () => {
    const url = `${pair.standby.url}?target_session_attrs=read-write`;
    const reason = `127.0.0.1:${pair.standby.port} is a standby and accepts no writes`;
    await expect(migrate(url)).rejects.toThrow(reason);
  });

  it('passes over a server that refuses the user or the database', async () => {
    await sql`CREATE DATABASE only_here`.execute(opened.db);
    const { port } = new URL(process.env['TEST_DATABASE_URL'] ?? '');
    const url = pair.url('only_here').replace('@', `@127.0.0.1:${port},`);
    const other = openDatabase({ url, log });
    try {
      const { rows } = await sql`SELECT current_database() AS name`.execute(other.db);
      expect(rows).toEqual([{ name: 'only_here' }]);
    } finally {
      await other.close();
    }
  });

  it('reads no configuration from a server that accepts no writes, because it may be behind', async () => {
    const standby = openDatabase({ url: pair.standby.url, log });
    try {
      const read = failureOf(readConfiguration(standby.db, 'production'));
      expect(await read).toMatchObject({ code: '25006' });
      expect(isUnavailable(await read)).toBe(true);
    } finally {
      await standby.close();
    }
  });

  it('does not confirm a commit that the standby did not confirm in time', async () => {
    await onStandby('pg_wal_replay_pause()');
    try {
      const error = await failureOf(
        opened.db.transaction().execute((db) => sql`INSERT INTO numbers VALUES (2)`.execute(db)),
      );
      expect(error).toBeInstanceOf(CommitUnknownError);
    } finally {
      await onStandby('pg_wal_replay_resume()');
    }
    await eventually(() => add(3));
  });

  it('names what is wrong with each server while none accepts writes', async () => {
    await pair.primary.process.stop('SIGKILL');
    const error = await eventually(async () => {
      const found = await failureOf(add(4));
      expect(String(found)).toMatch(/no Postgres server accepts writes/);
      return found;
    });
    expect(isUnavailable(error)).toBe(true);
    const { primary, standby } = pair;
    expect(String(error)).toMatch(
      new RegExp(
        `: 127\\.0\\.0\\.1:${primary.port}: .*ECONNREFUSED.*; 127\\.0\\.0\\.1:${standby.port} is a standby`,
      ),
    );
    await expect(session.ensureConnected()).rejects.toThrow(/no Postgres server accepts writes/);
  });

  it('leads to the standby once it is promoted, with all that was confirmed', async () => {
    await pair.promote();
    await eventually(() => add(5));
    expect(await numbers()).toEqual(expect.arrayContaining([1, 3, 5]));
    expect(await session.ensureConnected()).toBe(true);
    expect(await session.tryLock('production')).toBe(true);
    await sql`SELECT pg_notify('config_outbox', 'production')`.execute(opened.db);
    await eventually(() => expect(changed).toEqual(['production']));
  });
});

/** Only the setting is changed, as some managed servers do it; the connections stay open. */
describe('a server that stops accepting writes', () => {
  it('loses its connections, which fail as unavailable', async () => {
    const pair = await startPostgresPair();
    const opened = openDatabase({ url: pair.primary.url, log, maxConnections: 1 });
    const pid = async () => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(
        opened.db,
      );
      return rows[0]?.pid;
    };
    try {
      await sql`CREATE TABLE numbers (number integer)`.execute(opened.db);
      const before = await pid();
      await sql`SET default_transaction_read_only = on`.execute(opened.db);
      const write = sql`INSERT INTO numbers VALUES (1)`.execute(opened.db);
      const error: unknown = await write.catch((thrown: unknown) => thrown);
      expect(isUnavailable(error)).toBe(true);
      expect(await pid()).not.toBe(before);
      await sql`INSERT INTO numbers VALUES (1)`.execute(opened.db);
    } finally {
      await opened.close();
      await pair.close();
    }
  }, 60_000);
});
