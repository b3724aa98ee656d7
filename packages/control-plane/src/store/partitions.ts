import { sql } from 'kysely';
import type { PartitionedTable } from '../domain/partitioned-table.ts';
import { endOfPeriod } from '../domain/period.ts';
import type { Database } from './database.ts';
import { isLockTimeout } from './failures.ts';
import { LOCK_CLASS } from './locks.ts';

/**
 * How long a change of partitions waits for a lock unless it is told, ms. It may wait twice: for the
 * table and for the partition. Who comes to the table meanwhile waits behind it, writers too, as the drop
 * of a partition needs the whole table for a moment: `DETACH … CONCURRENTLY`, which does not, is refused
 * where there is a DEFAULT partition.
 */
const LOCK_TIMEOUT_MS = 500;

/** A period's rows may have to be moved: longer than other statements are given, ms. */
const MOVE_TIMEOUT_MS = 60_000;

/**
 * `done`; `already` where another process had done it; `busy` where another process is at it; `locked`
 * where the table stayed in use too long.
 */
export type PartitionChange = 'done' | 'already' | 'busy' | 'locked';

/** The periods that have a partition, each by the ms at which it begins (UTC), oldest first. */
export async function listPartitions(
  db: Database,
  { name: table }: PartitionedTable,
): Promise<readonly number[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = ${table}::regclass ORDER BY child.relname
  `.execute(db);
  return rows.map((row) => periodOfName(row.name)).filter((start) => start !== undefined);
}

/** The periods of which rows lie in the DEFAULT partition; at most 1000 of them. */
export async function listStrayPeriods(
  db: Database,
  table: PartitionedTable,
): Promise<readonly number[]> {
  const { rows } = await sql<{ start_ms: number }>`
    SELECT DISTINCT
      (extract(epoch FROM date_trunc(${table.period}, ${sql.ref(table.time)}, 'UTC')) * 1000)::float8
      AS start_ms
    FROM ${defaultOf(table)} LIMIT 1000
  `.execute(db);
  return rows.map((row) => row.start_ms);
}

/**
 * Makes the partition of a period and moves its rows into it from the DEFAULT partition. Another
 * process that made it meanwhile is no error. Nobody sees a row missing or twice.
 */
export function makePartition(
  db: Database,
  table: PartitionedTable,
  startMs: number,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<PartitionChange> {
  const partition = sql.table(nameOf(table, startMs));
  const from = sql.lit(new Date(startMs).toISOString());
  const to = sql.lit(new Date(endOfPeriod(table.period, startMs)).toISOString());
  return change(db, lockTimeoutMs, async (transaction) => {
    if ((await listPartitions(transaction, table)).includes(startMs)) return 'already';
    // First of all, as what is inserted into DEFAULT after the move would make the ATTACH fail.
    await sql`LOCK TABLE ${defaultOf(table)} IN ACCESS EXCLUSIVE MODE`.execute(transaction);
    await sql`CREATE TABLE ${partition} (LIKE ${sql.table(table.name)} INCLUDING ALL)`.execute(
      transaction,
    );
    const time = sql.ref(table.time);
    await sql`
      WITH moved AS (
        DELETE FROM ${defaultOf(table)} WHERE ${time} >= ${from} AND ${time} < ${to} RETURNING *
      )
      INSERT INTO ${partition} SELECT * FROM moved
    `.execute(transaction);
    await sql`
      ALTER TABLE ${sql.table(table.name)} ATTACH PARTITION ${partition}
      FOR VALUES FROM (${from}) TO (${to})
    `.execute(transaction);
    return 'done';
  });
}

/** Drops the partition of a period with all its rows. One that is gone already is no error. */
export function dropPartition(
  db: Database,
  table: PartitionedTable,
  startMs: number,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<PartitionChange> {
  return change(db, lockTimeoutMs, async (transaction) => {
    if (!(await listPartitions(transaction, table)).includes(startMs)) return 'already';
    await sql`DROP TABLE ${sql.table(nameOf(table, startMs))}`.execute(transaction);
    return 'done';
  });
}

/** Deletes rows older than `beforeMs` from the DEFAULT partition, a bounded number at a time. */
export async function deleteStrays(
  db: Database,
  table: PartitionedTable,
  beforeMs: number,
): Promise<number> {
  const time = sql.ref(table.time);
  const { numAffectedRows } = await sql`
    DELETE FROM ${defaultOf(table)} WHERE (${time}, id) IN (
      SELECT ${time}, id FROM ${defaultOf(table)}
      WHERE ${time} < ${new Date(beforeMs)} ORDER BY ${time} LIMIT 10000
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

async function change(
  db: Database,
  lockTimeoutMs: number,
  work: (transaction: Database) => Promise<'done' | 'already'>,
): Promise<PartitionChange> {
  try {
    return await db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ locked: boolean }>`
        SELECT pg_try_advisory_xact_lock(${LOCK_CLASS.partitions}, 0) AS locked
      `.execute(transaction);
      if (rows[0]?.locked !== true) return 'busy';
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
      await sql`SET LOCAL statement_timeout = ${sql.lit(MOVE_TIMEOUT_MS)}`.execute(transaction);
      return await work(transaction);
    });
  } catch (error) {
    if (isLockTimeout(error)) return 'locked';
    throw error;
  }
}

function defaultOf(table: PartitionedTable) {
  return sql.table(`${table.name}_default`);
}

/** `request_records_20300131`, `audit_events_203001`. */
function nameOf(table: PartitionedTable, startMs: number): string {
  const date = new Date(startMs).toISOString().slice(0, table.period === 'day' ? 10 : 7);
  return `${table.name}_${date.replaceAll('-', '')}`;
}

function periodOfName(name: string): number | undefined {
  const [, year, month, day = '1'] = /_(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? [];
  if (year === undefined) return undefined;
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
