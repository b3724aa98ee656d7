import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';

/** What the rows of one page may weigh together, bytes; the last one of a page may go over it. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

export interface BoundedRows<Row> {
  readonly rows: readonly Row[];
  /** What they weigh together. */
  readonly bytes: number;
  /** Whether rows that were asked for are left out, as those before them weigh enough. */
  readonly isCut: boolean;
}

export interface BytesBound {
  /** The order of the list, by columns of its rows. */
  readonly order: RawBuilder<unknown>;
  /** What a row weighs, bytes: of its columns those that may be large. */
  readonly bytes: RawBuilder<unknown>;
  readonly maxBytes: number;
}

interface Weighed {
  readonly page_rows: number;
  readonly row_bytes: number;
}

/**
 * The rows of a SELECT that has a LIMIT, up to the one with which they weigh enough; the first one in any
 * case. Postgres weighs them, so that what is left out costs no memory here.
 */
export async function readWithinBytes<Row extends object>(
  db: Database,
  select: RawBuilder<unknown>,
  { order, bytes, maxBytes }: BytesBound,
): Promise<BoundedRows<Row>> {
  const { rows } = await sql<Row & Weighed>`
    SELECT * FROM (
      SELECT weighed.*, count(*) OVER () AS page_rows, coalesce(sum(row_bytes) OVER (
        ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ), 0) AS bytes_before
      FROM (SELECT listed.*, (${bytes})::float8 AS row_bytes FROM (${select}) AS listed) AS weighed
    ) AS page
    WHERE bytes_before < ${maxBytes}::float8 OR bytes_before = 0 ORDER BY ${order}
  `.execute(db);
  const [first] = rows;
  return {
    rows: rows.map((row) => withoutWeight<Row>(row)),
    bytes: rows.reduce((sum, row) => sum + row.row_bytes, 0),
    isCut: first !== undefined && first.page_rows > rows.length,
  };
}

const WEIGHT = new Set(['page_rows', 'row_bytes', 'bytes_before']);

function withoutWeight<Row extends object>(row: Row & Weighed): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !WEIGHT.has(column))) as Row;
}
