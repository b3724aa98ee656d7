import { sql } from 'kysely';
import type { PartitionedTable } from '../../domain/partitioned-table.ts';
import { endOfPeriod } from '../../domain/period.ts';
import type { Database } from '../database.ts';
import { isLockTimeout } from '../failures.ts';
import { LOCK_CLASS } from '../locks.ts';

/**
 * How long a change of partitions waits for a lock unless it is told, ms. It may wait twice: for the
 * table and for the partition. Who comes to the table meanwhile waits behind it, writers too, as the drop
 * of a partition needs the whole table for a moment: `DETACH … CONCURRENTLY`, which does not, is refused
 * where there is a DEFAULT partition.
 */
const LOCK_TIMEOUT_MS = 500;

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
  return (await partitionsOf(db, table))
    .map((name) => periodOfName(name))
    .filter((start) => start !== undefined);
}

/** The names of a table's partitions, in their order; none where there is no such table. */
export async function partitionsOf(db: Database, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = to_regclass(${table}) ORDER BY child.relname
  `.execute(db);
  return rows.map((row) => row.name);
}

/**
 * The periods of which rows lie in the DEFAULT partition, oldest first; at most 1000 of them. Each is
 * found by one look into the key, as millions of rows could not be read in the time of a statement.
 */
export async function listStrayPeriods(
  db: Database,
  table: PartitionedTable,
): Promise<readonly number[]> {
  const time = sql.ref(table.time);
  const step = sql.lit(`1 ${table.period}`);
  const first = sql`date_trunc(${table.period}, min(${time}) AT TIME ZONE 'UTC')`;
  const { rows } = await sql<{ start_ms: number }>`
    WITH RECURSIVE periods (start) AS (
      SELECT ${first} FROM ${defaultOf(table)}
      UNION ALL
      SELECT (
        SELECT ${first} FROM ${defaultOf(table)}
        WHERE ${time} >= (start + interval ${step}) AT TIME ZONE 'UTC'
      ) FROM periods WHERE start IS NOT NULL
    )
    SELECT (extract(epoch FROM start) * 1000)::float8 AS start_ms
    FROM periods WHERE start IS NOT NULL LIMIT 1000
  `.execute(db);
  return rows.map((row) => row.start_ms);
}

/**
 * Makes the partition of a period. Another process that made it meanwhile is no error, and neither is
 * that rows of it lie in the DEFAULT partition (`late`): then nothing is made, and `late-rows.ts` has what
 * moves them.
 */
export function makePartition(
  db: Database,
  table: PartitionedTable,
  startMs: number,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<PartitionChange | 'late'> {
  const time = sql.ref(table.time);
  const { from, to } = boundsOf(table, startMs);
  return change(db, lockTimeoutMs, async (transaction) => {
    if ((await listPartitions(transaction, table)).includes(startMs)) return 'already';
    if ((await oidOf(transaction, movingName(table))) !== undefined) return 'late';
    // First of all, as what is inserted into DEFAULT after the look would make the ATTACH fail.
    await sql`LOCK TABLE ${defaultOf(table)} IN ACCESS EXCLUSIVE MODE`.execute(transaction);
    const { rows } = await sql`
      SELECT 1 FROM ${defaultOf(table)} WHERE ${time} >= ${from} AND ${time} < ${to} LIMIT 1
    `.execute(transaction);
    if (rows.length > 0) return 'late';
    const partition = sql.table(nameOf(table, startMs));
    await sql`CREATE TABLE ${partition} (LIKE ${sql.table(table.name)} INCLUDING ALL)`.execute(
      transaction,
    );
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

/**
 * A transaction that changes partitions, alone among all that do: `busy` where another one is under way,
 * `locked` where it waited longer than `lockTimeoutMs` for one of its locks. Nothing is done then.
 */
export async function change<T>(
  db: Database,
  lockTimeoutMs: number,
  work: (transaction: Database) => Promise<T>,
): Promise<T | 'busy' | 'locked'> {
  try {
    return await db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ locked: boolean }>`
        SELECT pg_try_advisory_xact_lock(${LOCK_CLASS.partitions}, 0) AS locked
      `.execute(transaction);
      if (rows[0]?.locked !== true) return 'busy';
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
      return await work(transaction);
    });
  } catch (error) {
    if (isLockTimeout(error)) return 'locked';
    throw error;
  }
}

/** What a table of this name is known by for as long as it exists; undefined where there is none. */
export async function oidOf(db: Database, name: string): Promise<number | undefined> {
  const { rows } = await sql<{ oid: number | null }>`
    SELECT to_regclass(${name})::oid AS oid
  `.execute(db);
  return rows[0]?.oid ?? undefined;
}

export function defaultOf(table: PartitionedTable) {
  return sql.table(`${table.name}_default`);
}

/** The table that rows of the DEFAULT partition are copied into: `late-rows.ts`. */
export function movingName(table: PartitionedTable): string {
  return `${table.name}_moving`;
}

/** When a period begins and when it is over, as literals. */
export function boundsOf(table: PartitionedTable, startMs: number) {
  const literal = (ms: number) => sql.lit(new Date(ms).toISOString());
  return { from: literal(startMs), to: literal(endOfPeriod(table.period, startMs)) };
}

/** `request_records_20300131`, `audit_events_203001`. */
export function nameOf(table: PartitionedTable, startMs: number): string {
  const date = new Date(startMs).toISOString().slice(0, table.period === 'day' ? 10 : 7);
  return `${table.name}_${date.replaceAll('-', '')}`;
}

export function periodOfName(name: string): number | undefined {
  const [, year, month, day = '1'] = /_(\d{4})(\d{2})(\d{2})?$/.exec(name) ?? [];
  if (year === undefined) return undefined;
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
