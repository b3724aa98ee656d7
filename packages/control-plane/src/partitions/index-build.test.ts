import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import pg from 'pg';
import { openUnmigratedDatabase, type UnmigratedDatabase } from '../../test/unmigrated-database.ts';
import { AUDIT_EVENTS } from './partitioned-table.ts';
import { migrate } from '../store/migrate.ts';
import { buildMissingIndexes } from './store/missing-indexes.ts';
import { createPartitions } from './store/partitions.ts';
import { startIndexBuild } from './index-build.ts';

const BEFORE = '0016_restored_versions';
const OLD_MONTH = Date.UTC(2030, 4);
const NEW_MONTH = Date.UTC(2030, 5);
const DECLARED = 3;
const never = new AbortController().signal;
const log = createLogger('test', 'silent');

/** An upgrade of a database with partitions of audit events, which have rows. */
describe('the indexes that a migration declares for audit events', () => {
  let database: UnmigratedDatabase;
  let client: pg.Client;
  beforeEach(async () => {
    database = await openUnmigratedDatabase();
    await database.migrateTo(BEFORE);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await createPartitions(database.db, AUDIT_EVENTS, [OLD_MONTH]);
    await insert(client, 1000);
    await migrate(database.url);
  });
  afterEach(async () => {
    await client.end();
    await database.close();
  });

  const insert = (by: pg.Client, count: number) =>
    by.query(
      `INSERT INTO audit_events (occurred_at, id, action, resource_type, resource_id, environments,
        routes, request_id)
      SELECT '2030-05-10'::timestamptz + n * interval '1 second', 'aud_' || gen_random_uuid(),
        'route.updated', 'route', 'rte_1', '{production}', '{orders}', 'req_' || n
      FROM generate_series(1, $1::int) AS n`,
      [count],
    );
  /** How many of the declared indexes each partition has, attached and usable. */
  async function indexes(): Promise<Record<string, number>> {
    const { rows } = await client.query<{ partition: string; n: number }>(`
      SELECT part.relname AS partition, count(child.indexrelid) FILTER (WHERE child.indisvalid)::int AS n
      FROM pg_index AS declared
      JOIN pg_class AS parent ON parent.oid = declared.indexrelid AND parent.relkind = 'I'
        AND parent.relname ~ '_by_(request|action|type)$'
      JOIN pg_inherits ON inhparent = declared.indrelid JOIN pg_class AS part ON part.oid = inhrelid
      LEFT JOIN (pg_inherits AS attached JOIN pg_index AS child ON child.indexrelid = attached.inhrelid)
        ON attached.inhparent = parent.oid AND child.indrelid = part.oid
      WHERE declared.indrelid = 'audit_events'::regclass GROUP BY 1`);
    return Object.fromEntries(rows.map(({ partition, n }) => [partition, n]));
  }
  const build = () => {
    const built: string[] = [];
    return buildMissingIndexes(database.url, (index) => built.push(index), never).then((done) => ({
      done,
      built,
    }));
  };
  const OLD = 'audit_events_203005';
  const NEW = 'audit_events_203006';
  const DEFAULT = 'audit_events_default';

  it('are built in each partition, and new partitions have them', async () => {
    expect(await indexes()).toEqual({ [OLD]: 0, [DEFAULT]: 0 });
    await startIndexBuild({ databaseUrl: database.url, clock: systemClock, log }).ended;
    await createPartitions(database.db, AUDIT_EVENTS, [NEW_MONTH]);
    expect(await indexes()).toEqual({ [OLD]: DECLARED, [DEFAULT]: DECLARED, [NEW]: DECLARED });
    expect(await build()).toEqual({ done: true, built: [] });
    const { rows } = await client.query(
      `EXPLAIN SELECT FROM audit_events WHERE request_id = 'req_7' AND occurred_at > '2030-01-01'`,
    );
    expect(JSON.stringify(rows)).toContain(`${OLD}_by_request`);
  });

  it('are in a partition that is created before they are built', async () => {
    await createPartitions(database.db, AUDIT_EVENTS, [NEW_MONTH]);
    expect(await indexes()).toEqual({ [OLD]: 0, [DEFAULT]: 0, [NEW]: DECLARED });
  });

  it('are built while others write, and by one process only', async () => {
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    try {
      await writer.query('BEGIN');
      await insert(writer, 1);
      const building = build();
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'`;
      await eventually(async () => expect((await client.query(waiting)).rowCount).toBe(1));
      await insert(client, 1);
      expect(await build()).toEqual({ done: false, built: [] });
      await writer.query('COMMIT');
      expect((await building).built).toHaveLength(2 * DECLARED);
    } finally {
      await writer.end();
    }
    expect(await indexes()).toEqual({ [OLD]: DECLARED, [DEFAULT]: DECLARED });
  });

  it('are built again if a build was interrupted', async () => {
    await client.query(`CREATE INDEX ${OLD}_by_request ON ${OLD} (request_id)`);
    await client.query(`CREATE INDEX ${OLD}_by_action ON ${OLD} (action, occurred_at)`);
    // As a build leaves it that was ended between its steps.
    await client.query(`UPDATE pg_index SET indisvalid = false
      WHERE indexrelid = '${OLD}_by_request'::regclass`);
    expect((await build()).done).toBe(true);
    expect(await indexes()).toEqual({ [OLD]: DECLARED, [DEFAULT]: DECLARED });
  });

  it('are left as they are when the process stops', async () => {
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    try {
      await writer.query('BEGIN');
      await insert(writer, 1);
      const building = startIndexBuild({ databaseUrl: database.url, clock: systemClock, log });
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'`;
      await eventually(async () => expect((await client.query(waiting)).rowCount).toBe(1));
      await building.stop();
      await writer.query('COMMIT');
      await eventually(async () => expect((await build()).done).toBe(true));
    } finally {
      await writer.end();
    }
    expect(await indexes()).toEqual({ [OLD]: DECLARED, [DEFAULT]: DECLARED });
  });
});
