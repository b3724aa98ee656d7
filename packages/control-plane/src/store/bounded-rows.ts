import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';

/** The size of the rows of one page, bytes; the last row may exceed it. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Which rows of a table that is listed by time, newest first, and how many. */
export interface TimeRange {
  /** From this time on, ms since the Unix epoch. */
  readonly sinceMs: number;
  /** Before this time, ms since the Unix epoch. */
  readonly untilMs?: number | undefined;
  /** The last row of the page before. */
  readonly after?: { readonly id: string; readonly atMs: number } | undefined;
  readonly limit: number;
  /** The size of the page, bytes; by default `MAX_PAGE_BYTES`. */
  readonly maxBytes?: number | undefined;
}

export interface BoundedRows<Row> {
  readonly rows: readonly Row[];
  /** The size of the rows together. */
  readonly bytes: number;
  /** Whether further rows within the LIMIT are omitted because of the size. */
  readonly isCut: boolean;
}

export interface SizeLimit {
  /** The ORDER BY of the list, in columns of its rows. */
  readonly order: RawBuilder<unknown>;
  /** The size of the large columns of a row, bytes. */
  readonly bytes: RawBuilder<unknown>;
  readonly maxBytes: number;
}

interface Measured {
  readonly page_rows: number;
  readonly row_bytes: number;
}

/**
 * The rows of a SELECT with a LIMIT, up to the row that reaches `maxBytes`, and at least one. Postgres
 * measures the rows, so omitted rows cost no memory here.
 */
export async function readWithinBytes<Row extends object>(
  db: Database,
  select: RawBuilder<unknown>,
  { order, bytes, maxBytes }: SizeLimit,
): Promise<BoundedRows<Row>> {
  const { rows } = await sql<Row & Measured>`
    SELECT * FROM (
      SELECT measured.*, count(*) OVER () AS page_rows, coalesce(sum(row_bytes) OVER (
        ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ), 0) AS bytes_before
      FROM (SELECT listed.*, (${bytes})::float8 AS row_bytes FROM (${select}) AS listed) AS measured
    ) AS page
    WHERE bytes_before < ${maxBytes}::float8 OR bytes_before = 0 ORDER BY ${order}
  `.execute(db);
  const [first] = rows;
  return {
    rows: rows.map((row) => withoutMeasures<Row>(row)),
    bytes: rows.reduce((sum, row) => sum + row.row_bytes, 0),
    isCut: first !== undefined && first.page_rows > rows.length,
  };
}

/** Runs a read that Postgres cancels after `timeoutMs` with an error for which `isStatementTimeout` is true. */
export function readWithinTime<T>(
  db: Database,
  timeoutMs: number,
  read: (transaction: Database) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    await sql`SET LOCAL statement_timeout = ${sql.lit(Math.ceil(timeoutMs))}`.execute(transaction);
    return read(transaction);
  });
}

const MEASURES = new Set(['page_rows', 'row_bytes', 'bytes_before']);

function withoutMeasures<Row extends object>(row: Row & Measured): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !MEASURES.has(column))) as Row;
}
