import { sql } from 'kysely';
import type { PartitionedTable } from '../partitioned-table.ts';
import { endOfPeriod } from '../period.ts';
import type { Database } from '../../store/database.ts';
import { isLockTimeout } from '../../store/failures.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

/**
 * How long a change of partitions waits for a lock by default, ms. It may wait twice: for the table and
 * for the partition. All other users of the table wait behind it, because dropping a partition locks the
 * whole table for a moment. `DETACH … CONCURRENTLY` is not possible beside a DEFAULT partition.
 */
const LOCK_TIMEOUT_MS = 500;

/** The table stayed in use for too long; nothing was changed. */
export type Locked = 'locked';

/** `already`: another process did it. */
export type PartitionChange = 'done' | 'already' | Locked;

/** Partitions that were created, and rows that were moved into them from the DEFAULT partition. */
export interface CreatedPartitions {
  /** Each by its first ms (UTC). */
  readonly created: readonly number[];
  readonly late: readonly { readonly startMs: number; readonly rows: number }[];
}

/** The periods that have a partition, each by its first ms (UTC), in order. */
export async function listPartitions(
  db: Database,
  { name: table }: PartitionedTable,
): Promise<readonly number[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = to_regclass(${table}) ORDER BY child.relname
  `.execute(db);
  return rows.map(({ name }) => periodOfName(name)).filter((start) => start !== undefined);
}

/**
 * The periods that have rows in the DEFAULT partition, in order, at most 1000. Each is found by one lookup
 * in the primary key, so the cost does not depend on the number of rows.
 */
export async function listDefaultPeriods(
  db: Database,
  table: PartitionedTable,
): Promise<readonly number[]> {
  const time = sql.ref(table.timeColumn);
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
 * Creates the missing partitions of these periods in one transaction. Rows of a period in the DEFAULT
 * partition are moved with one statement; they are few, because partitions are created long before their
 * time. Readers and writers wait meanwhile, and none misses a row.
 */
export function createPartitions(
  db: Database,
  table: PartitionedTable,
  starts: readonly number[],
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<CreatedPartitions | Locked> {
  return change(db, lockTimeoutMs, async (transaction) => {
    const existing = await listPartitions(transaction, table);
    const created = starts.filter((startMs) => !existing.includes(startMs));
    if (created.length === 0) return { created, late: [] };
    for (const startMs of created) {
      await sql`
        CREATE TABLE ${sql.table(nameOf(table, startMs))}
        (LIKE ${sql.table(table.name)} INCLUDING ALL)
      `.execute(transaction);
    }
    const lateStarts = async () =>
      (await listDefaultPeriods(transaction, table)).filter((startMs) => created.includes(startMs));
    // The lock keeps other writers from adding rows to DEFAULT, which would make ATTACH fail. If rows are
    // moved the whole table is locked: a reader that waits only for DEFAULT has already planned to find
    // the rows there.
    const movesRows = (await lateStarts()).length > 0;
    const locked = movesRows ? sql.table(table.name) : defaultOf(table);
    await sql`LOCK TABLE ${locked} IN ACCESS EXCLUSIVE MODE`.execute(transaction);
    const startsInDefault = await lateStarts();
    if (startsInDefault.length > 0 && !movesRows) throw new RowsArrivedError();
    const late: { startMs: number; rows: number }[] = [];
    for (const startMs of created) {
      if (startsInDefault.includes(startMs)) {
        late.push({ startMs, rows: await moveRows(transaction, table, startMs) });
      }
      const { from, to } = boundsOf(table, startMs);
      await sql`
        ALTER TABLE ${sql.table(table.name)} ATTACH PARTITION ${sql.table(nameOf(table, startMs))}
        FOR VALUES FROM (${from}) TO (${to})
      `.execute(transaction);
    }
    return { created, late };
  });
}

/** Rows arrived in DEFAULT before it was locked; the caller retries. */
class RowsArrivedError extends Error {}

async function moveRows(
  transaction: Database,
  table: PartitionedTable,
  startMs: number,
): Promise<number> {
  const time = sql.ref(table.timeColumn);
  const { from, to } = boundsOf(table, startMs);
  const { numAffectedRows } = await sql`
    WITH moved AS (
      DELETE FROM ${defaultOf(table)} WHERE ${time} >= ${from} AND ${time} < ${to} RETURNING *
    )
    INSERT INTO ${sql.table(nameOf(table, startMs))} SELECT * FROM moved
  `.execute(transaction);
  return Number(numAffectedRows ?? 0n);
}

/** Drops the partition of a period with all its rows. */
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
export async function deleteOldDefaultRows(
  db: Database,
  table: PartitionedTable,
  beforeMs: number,
): Promise<number> {
  const time = sql.ref(table.timeColumn);
  const { numAffectedRows } = await sql`
    DELETE FROM ${defaultOf(table)} WHERE ctid IN (
      SELECT ctid FROM ${defaultOf(table)}
      WHERE ${time} < ${new Date(beforeMs)} ORDER BY ${time} LIMIT 10000
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Runs a transaction that changes partitions. Only one process at a time does so; others wait. */
async function change<T>(
  db: Database,
  lockTimeoutMs: number,
  work: (transaction: Database) => Promise<T>,
): Promise<T | Locked> {
  try {
    return await db.transaction().execute(async (transaction) => {
      // Waits for another process that changes partitions, at most until the statement timeout.
      await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS.partitions}, 0)`.execute(transaction);
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
      return await work(transaction);
    });
  } catch (error) {
    if (isLockTimeout(error) || error instanceof RowsArrivedError) return 'locked';
    throw error;
  }
}

function defaultOf(table: PartitionedTable) {
  return sql.table(`${table.name}_default`);
}

/** The bounds of a period, as literals. */
function boundsOf(table: PartitionedTable, startMs: number) {
  const literal = (ms: number) => sql.lit(new Date(ms).toISOString());
  return { from: literal(startMs), to: literal(endOfPeriod(table.period, startMs)) };
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
