import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEmptyDatabase, type TestDatabase } from '@gateway/local-stack/test/test-database';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import pg from 'pg';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { requestView, requestViewSchema } from '../domain/request-view.ts';
import { requestRecord } from '@gateway/shared/test/request-record';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { findRecord, listRecords } from './records/records.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/', import.meta.url));
const DAY = Date.UTC(2030, 5, 15);

let database: TestDatabase;
let db: Kysely<unknown>;
beforeEach(async () => {
  database = await createEmptyDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

/** The database as a control plane of an earlier version left it. */
async function migrateTo(name: string): Promise<void> {
  const provider = new FileMigrationProvider({ fs, path, migrationFolder: MIGRATIONS });
  const { error } = await new Migrator({ db, provider }).migrateTo(name);
  if (error !== undefined) throw error as Error;
}

async function indexesOf(table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ on: string }>`
    SELECT substring(indexdef FROM 'USING (.*)') AS on FROM pg_indexes
    WHERE tablename = ${table} ORDER BY 1
  `.execute(db);
  return rows.map((row) => row.on);
}

describe('a database with data of an earlier version', () => {
  it('has its configuration begin its history with the version that is the newest', async () => {
    await migrateTo('0008_outbox_entities');
    await sql`
      INSERT INTO environments (name, config_version, created_at)
      VALUES ('production', 7, now()), ('staging', 3, now()), ('unused', 0, now())
    `.execute(db);
    await sql`
      INSERT INTO config_outbox (environment, change, created_at, published_version)
      VALUES ('production', 'route.created', '2030-01-01T00:00:00Z', 6),
        ('production', 'route.updated', '2030-01-02T00:00:00Z', 7),
        ('production', 'route.updated', '2030-01-03T00:00:00Z', 7),
        ('production', 'route.updated', '2030-01-04T00:00:00Z', NULL),
        ('staging', 'route.updated', '2030-01-05T00:00:00Z', 7)
    `.execute(db);
    await migrate(database.url);
    const { rows } = await sql`
      SELECT environment, version::int, why, published_at FROM config_versions ORDER BY 1
    `.execute(db);
    expect(rows).toEqual([
      {
        ...{ environment: 'production', version: 7, why: 'history_begins' },
        published_at: new Date('2030-01-03T00:00:00Z'),
      },
      {
        ...{ environment: 'staging', version: 3, why: 'history_begins' },
        published_at: expect.any(Date),
      },
    ]);
    const outbox = await sql`
      SELECT count(*)::int AS changes, count(token_id)::int AS tokens FROM config_outbox
    `.execute(db);
    expect(outbox.rows).toEqual([{ changes: 5, tokens: 0 }]);
  });

  it('keeps its records, finds and lists them, and has the new indexes in every partition', async () => {
    await migrateTo('0009_config_versions');
    await sql`
      CREATE TABLE request_records_20300615 PARTITION OF request_records
      FOR VALUES FROM ('2030-06-15T00:00:00Z') TO ('2030-06-16T00:00:00Z')
    `.execute(db);
    const records = [
      requestRecord(DAY),
      requestRecord(DAY + 1, { environment: null, route: null, status: null }),
      requestRecord(DAY + 2, { status: 502, outcome: 'upstream_error' }),
      requestRecord(DAY - 1, { status: 404, outcome: 'rejected' }),
    ];
    for (const { id, received_at_ms, environment, route, status, outcome, ...rest } of records) {
      // With its nulls, as earlier versions stored it.
      await sql`
        INSERT INTO request_records
        VALUES (to_timestamp(${received_at_ms}::float8 / 1000), ${id}, ${environment}, ${route},
          ${status}, ${outcome}, ${JSON.stringify(rest)})
      `.execute(db);
    }
    await migrate(database.url);
    const wanted = [
      '(environment, received_at)',
      '(environment, route, received_at)',
      "(outcome, received_at) WHERE (outcome <> 'success'::text)",
      '(received_at, id)',
      '(status, received_at) WHERE (status <> 200)',
    ].map((columns) => `btree ${columns}`);
    expect(await indexesOf('request_records_20300615')).toEqual(wanted);
    expect(await indexesOf('request_records_default')).toEqual(wanted);
    const opened = openDatabase({ url: database.url, log: createLogger('test', 'silent') });
    try {
      for (const { id, received_at_ms: atMs, ...fields } of records) {
        const row = await findRecord(opened.db, id, atMs);
        const view = row === undefined ? {} : requestView(row);
        expect(requestViewSchema.parse(view)).toMatchObject({ id, ...fields });
      }
      const everything = { environments: undefined, routes: undefined, sinceMs: 0, limit: 9 };
      const idsOf = async (filter: object) =>
        (await listRecords(opened.db, { ...everything, ...filter })).rows.map((row) => row.id);
      const [first, lost, failed, earlier] = records.map((record) => record.id);
      expect(await idsOf({})).toEqual([failed, lost, first, earlier]);
      expect(await idsOf({ status: 404 })).toEqual([earlier]);
      expect(await idsOf({ outcome: 'upstream_error' })).toEqual([failed]);
      expect(await idsOf({ environment: 'production', route: 'echo' })).toEqual([
        ...[failed, first, earlier],
      ]);
    } finally {
      await opened.close();
    }
  });

  it('has its partitions by the UTC month and day, whatever the time zone of Postgres', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await sql`ALTER DATABASE ${sql.id(name)} SET timezone TO 'Pacific/Auckland'`.execute(db);
    await db.destroy();
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    await migrate(database.url);
    const { rows } = await sql<{ name: string; bounds: string }>`
      SELECT relname AS name, pg_get_expr(relpartbound, oid) AS bounds FROM pg_class
      WHERE relispartition AND relname ~ '^audit_events_[0-9]{6}$'
    `.execute(db);
    expect(rows).toHaveLength(2);
    for (const { name: partition, bounds } of rows) {
      const [from, to] = [...bounds.matchAll(/'([^']+)'/g)].map(([, text]) => text ?? '');
      const month = `${partition.slice(-6, -2)}-${partition.slice(-2)}-01T00:00:00.000Z`;
      expect(new Date(from ?? '').toISOString()).toBe(month);
      expect(new Date(to ?? '').toISOString()).toMatch(/-01T00:00:00\.000Z$/);
    }
  });
});
