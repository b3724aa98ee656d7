import { sql } from 'kysely';
import type { Database } from './database.ts';
import { isLockTimeout } from './failures.ts';
import { LOCK_CLASS } from './locks.ts';

const TABLE = 'request_records';
const DEFAULT_PARTITION = `${TABLE}_default`;
const DAY_MS = 24 * 60 * 60 * 1000;

/** How long writers of records may be held up by a change of partitions, ms. */
const LOCK_TIMEOUT_MS = 500;

/** A day's records may have to be moved: longer than other statements are given, ms. */
const MOVE_TIMEOUT_MS = 60_000;

/** `done`; `busy` where another process is at it; `locked` where the table stayed in use too long. */
export type PartitionChange = 'done' | 'busy' | 'locked';

/** The days that have a partition, each by the ms at which it begins (UTC), oldest first. */
export async function listPartitions(db: Database): Promise<readonly number[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = ${TABLE}::regclass ORDER BY child.relname
  `.execute(db);
  return rows.map((row) => dayOfName(row.name)).filter((day) => day !== undefined);
}

/** The days of which records lie in the DEFAULT partition; at most 1000 of them. */
export async function listStrayDays(db: Database): Promise<readonly number[]> {
  const { rows } = await sql<{ day_ms: number }>`
    SELECT DISTINCT
      (extract(epoch FROM date_trunc('day', received_at, 'UTC')) * 1000)::float8 AS day_ms
    FROM ${sql.table(DEFAULT_PARTITION)} LIMIT 1000
  `.execute(db);
  return rows.map((row) => row.day_ms);
}

/**
 * Makes the partition of a day and moves the day's records into it from the DEFAULT partition.
 * Another process that made it meanwhile is no error. Nobody sees a record missing or twice.
 */
export function makePartition(db: Database, dayMs: number): Promise<PartitionChange> {
  const partition = sql.table(nameOfDay(dayMs));
  const from = sql.lit(new Date(dayMs).toISOString());
  const to = sql.lit(new Date(dayMs + DAY_MS).toISOString());
  return change(db, async (transaction) => {
    if ((await listPartitions(transaction)).includes(dayMs)) return;
    // First of all, as what is inserted into DEFAULT after the move would make the ATTACH fail.
    await sql`LOCK TABLE ${sql.table(DEFAULT_PARTITION)} IN ACCESS EXCLUSIVE MODE`.execute(
      transaction,
    );
    await sql`CREATE TABLE ${partition} (LIKE ${sql.table(TABLE)} INCLUDING ALL)`.execute(
      transaction,
    );
    await sql`
      WITH moved AS (
        DELETE FROM ${sql.table(DEFAULT_PARTITION)}
        WHERE received_at >= ${from} AND received_at < ${to} RETURNING *
      )
      INSERT INTO ${partition} SELECT * FROM moved
    `.execute(transaction);
    await sql`
      ALTER TABLE ${sql.table(TABLE)} ATTACH PARTITION ${partition}
      FOR VALUES FROM (${from}) TO (${to})
    `.execute(transaction);
  });
}

/** Drops the partition of a day with all its records. One that is gone already is no error. */
export function dropPartition(db: Database, dayMs: number): Promise<PartitionChange> {
  return change(db, async (transaction) => {
    await sql`DROP TABLE IF EXISTS ${sql.table(nameOfDay(dayMs))}`.execute(transaction);
  });
}

/** Deletes records older than `beforeMs` from the DEFAULT partition, a bounded number at a time. */
export async function deleteStrayRecords(db: Database, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(DEFAULT_PARTITION)} WHERE (received_at, id) IN (
      SELECT received_at, id FROM ${sql.table(DEFAULT_PARTITION)}
      WHERE received_at < ${new Date(beforeMs)} ORDER BY received_at LIMIT 10000
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

async function change(
  db: Database,
  work: (transaction: Database) => Promise<void>,
): Promise<PartitionChange> {
  try {
    return await db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ locked: boolean }>`
        SELECT pg_try_advisory_xact_lock(${LOCK_CLASS.partitions}, 0) AS locked
      `.execute(transaction);
      if (rows[0]?.locked !== true) return 'busy';
      await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(transaction);
      await sql`SET LOCAL statement_timeout = ${sql.lit(MOVE_TIMEOUT_MS)}`.execute(transaction);
      await work(transaction);
      return 'done';
    });
  } catch (error) {
    if (isLockTimeout(error)) return 'locked';
    throw error;
  }
}

function nameOfDay(dayMs: number): string {
  return `${TABLE}_${new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function dayOfName(name: string): number | undefined {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  if (year === undefined) return undefined;
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}
