import { sql } from 'kysely';
import type { PartitionedTable } from '../../domain/partitioned-table.ts';
import type { Database } from '../database.ts';
import {
  boundsOf,
  change,
  defaultOf,
  listPartitions,
  movingName,
  nameOf,
  oidOf,
  partitionsOf,
  periodOfName,
  type PartitionChange,
} from './partitions.ts';

/**
 * Rows that came before their period had a partition lie in the DEFAULT one, and no partition can be made
 * while they do. They are copied aside in batches, into a table with the partitions that are wanted and
 * a DEFAULT of its own; a trigger copies what is inserted meanwhile. Nobody waits for that, however many
 * rows there are. Then both change places in one short transaction that has the whole table to itself:
 * a reader that waited only for DEFAULT would still look for the rows where they were.
 */

const BATCH_ROWS = 5000;
/** A copy waits for nobody: whoever changes partitions besides has the advisory lock. */
const COPY_LOCK_TIMEOUT_MS = 500;
const CHECK = sql.id('moving_period');

/** A row of the DEFAULT partition, by its key. */
export interface RowKey {
  /** As Postgres writes it, to the microsecond. */
  readonly at: string;
  readonly id: string;
}

/** Begins a move into these periods. `already` where one is under way, maybe into other periods. */
export function beginMove(
  db: Database,
  table: PartitionedTable,
  starts: readonly number[],
  lockTimeoutMs: number,
): Promise<PartitionChange> {
  const moving = sql.table(movingName(table));
  const time = sql.ref(table.time);
  return change(db, lockTimeoutMs, async (transaction) => {
    if ((await oidOf(transaction, movingName(table))) !== undefined) return 'already';
    const existing = await listPartitions(transaction, table);
    const wanted = starts.filter((start) => !existing.includes(start));
    if (wanted.length === 0) return 'already';
    await sql`
      CREATE TABLE ${moving} (LIKE ${sql.table(table.name)} INCLUDING ALL)
      PARTITION BY RANGE (${time})
    `.execute(transaction);
    for (const start of wanted) {
      const { from, to } = boundsOf(table, start);
      // By the CHECK it is known without reading them that all rows are of this period. Autovacuum would
      // hold up the exchange at the end.
      await sql`
        CREATE TABLE ${sql.table(nameOf(table, start))} PARTITION OF ${moving}
          (CONSTRAINT ${CHECK} CHECK (${time} >= ${from} AND ${time} < ${to}))
        FOR VALUES FROM (${from}) TO (${to}) WITH (autovacuum_enabled = off)
      `.execute(transaction);
    }
    await sql`CREATE TABLE ${movingDefault(table)} PARTITION OF ${moving} DEFAULT`.execute(
      transaction,
    );
    await sql`
      CREATE FUNCTION ${moving}() RETURNS trigger LANGUAGE plpgsql AS ${sql.lit(
        `BEGIN INSERT INTO ${movingName(table)} VALUES (NEW.*) ON CONFLICT DO NOTHING; RETURN NULL; END`,
      )}
    `.execute(transaction);
    // Waits for whoever is inserting: what was inserted without the trigger can be read from here on.
    await sql`
      CREATE TRIGGER ${sql.id(movingName(table))} AFTER INSERT ON ${defaultOf(table)}
      FOR EACH ROW EXECUTE FUNCTION ${moving}()
    `.execute(transaction);
    await sql`ALTER TABLE ${defaultOf(table)} SET (autovacuum_enabled = off)`.execute(transaction);
    return 'done';
  });
}

/** A move that has begun. Where another one has taken its place, its steps are `already` done. */
export interface Move {
  /** The object id of the table that is copied into. */
  readonly oid: number;
  /** The row up to which is to be copied, if any: what comes later is copied as it comes. */
  readonly last: RowKey | undefined;
}

/** The move that is under way; undefined where there is none. */
export async function findMove(db: Database, table: PartitionedTable): Promise<Move | undefined> {
  const oid = await oidOf(db, movingName(table));
  const time = sql.ref(table.time);
  const { rows } = await sql<RowKey>`
    SELECT ${time}::text AS at, id FROM ${defaultOf(table)} ORDER BY ${time} DESC, id DESC LIMIT 1
  `.execute(db);
  return oid === undefined ? undefined : { oid, last: rows[0] };
}

/**
 * Copies the next rows behind `after`, from the first on where that is undefined. Gives the last one, or
 * undefined where all that the move has to copy is copied.
 */
export function copyLateRows(
  db: Database,
  table: PartitionedTable,
  { oid, last }: Move,
  after: RowKey | undefined,
): Promise<RowKey | undefined | 'already' | 'busy' | 'locked'> {
  const time = sql.ref(table.time);
  const behind =
    after === undefined ? sql`` : sql`AND (${time}, id) > (${after.at}::timestamptz, ${after.id})`;
  return change(db, COPY_LOCK_TIMEOUT_MS, async (transaction) => {
    if ((await oidOf(transaction, movingName(table))) !== oid) return 'already';
    if (last === undefined) return undefined;
    const { rows } = await sql<RowKey>`
      WITH batch AS MATERIALIZED (
        SELECT * FROM ${defaultOf(table)}
        WHERE (${time}, id) <= (${last.at}::timestamptz, ${last.id}) ${behind}
        ORDER BY ${time}, id LIMIT ${BATCH_ROWS}
      ), copied AS (
        INSERT INTO ${sql.table(movingName(table))} SELECT * FROM batch ON CONFLICT DO NOTHING
      )
      SELECT ${time}::text AS at, id FROM batch ORDER BY ${time} DESC, id DESC LIMIT 1
    `.execute(transaction);
    return rows[0];
  });
}

/**
 * Puts the copies in the place of the DEFAULT partition, once everything is copied. Takes no longer for
 * many rows than for few.
 */
export function endMove(
  db: Database,
  table: PartitionedTable,
  { oid }: Move,
  lockTimeoutMs: number,
): Promise<PartitionChange> {
  const root = sql.table(table.name);
  const moving = sql.table(movingName(table));
  return change(db, lockTimeoutMs, async (transaction) => {
    if ((await oidOf(transaction, movingName(table))) !== oid) return 'already';
    // From here on nobody else reads or writes the table.
    await sql`ALTER TABLE ${root} DETACH PARTITION ${defaultOf(table)}`.execute(transaction);
    await sql`DROP TABLE ${defaultOf(table)}`.execute(transaction);
    for (const name of await partitionsOf(transaction, movingName(table))) {
      const partition = sql.table(name);
      await sql`ALTER TABLE ${moving} DETACH PARTITION ${partition}`.execute(transaction);
      const start = periodOfName(name);
      if (start === undefined) continue;
      const { from, to } = boundsOf(table, start);
      await sql`
        ALTER TABLE ${root} ATTACH PARTITION ${partition} FOR VALUES FROM (${from}) TO (${to})
      `.execute(transaction);
      await sql`ALTER TABLE ${partition} DROP CONSTRAINT ${CHECK}`.execute(transaction);
      await sql`ALTER TABLE ${partition} RESET (autovacuum_enabled)`.execute(transaction);
    }
    await sql`
      ALTER TABLE ${movingDefault(table)} RENAME TO ${sql.id(`${table.name}_default`)}
    `.execute(transaction);
    await sql`ALTER TABLE ${root} ATTACH PARTITION ${defaultOf(table)} DEFAULT`.execute(
      transaction,
    );
    await dropMoving(transaction, table);
    return 'done';
  });
}

/** Gives a move up that cannot be ended; the rows are where they were. */
export function abandonMove(
  db: Database,
  table: PartitionedTable,
  lockTimeoutMs: number,
): Promise<PartitionChange> {
  return change(db, lockTimeoutMs, async (transaction) => {
    if ((await oidOf(transaction, movingName(table))) === undefined) return 'already';
    await dropMoving(transaction, table);
    await sql`ALTER TABLE ${defaultOf(table)} RESET (autovacuum_enabled)`.execute(transaction);
    return 'done';
  });
}

/** With the partitions that it still has, and the trigger where there still is one. */
async function dropMoving(transaction: Database, table: PartitionedTable): Promise<void> {
  const moving = sql.table(movingName(table));
  await sql`DROP FUNCTION ${moving}() CASCADE`.execute(transaction);
  await sql`DROP TABLE ${moving}`.execute(transaction);
}

function movingDefault(table: PartitionedTable) {
  return sql.table(`${movingName(table)}_default`);
}
