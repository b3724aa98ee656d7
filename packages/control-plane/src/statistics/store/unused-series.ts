import { sql } from 'kysely';
import { RESOLUTIONS } from '../statistics-segments.ts';
import type { Database } from '../../store/database.ts';
import { isLockTimeout } from '../../store/failures.ts';
import type { Locked } from '../../partitions/store/partitions.ts';

/** The number of series that one statement looks at. Each costs a lookup in every partition. */
const PAGE_SERIES = 1000;

/** Each series has sums in every resolution, and in this one the fewest. */
const [COARSEST] = RESOLUTIONS;

/** Whether the series of this id has no sums. Never planned as a join, which would read all sums. */
const IS_UNUSED = sql`(
  SELECT 1 FROM request_statistics
  WHERE resolution = ${sql.lit(COARSEST)} AND series = statistics_series.id LIMIT 1
) IS NULL`;

export interface SeriesPage {
  /** The series of the page that have no sums. */
  readonly unused: readonly string[];
  /** The last series of the page, after which the next one begins; undefined: there is none. */
  readonly last: string | undefined;
}

/** Finds series without sums: those of the next thousand by id. */
export async function findUnusedSeries(
  db: Database,
  after: string | undefined,
): Promise<SeriesPage> {
  const start = after === undefined ? sql`` : sql`WHERE id > ${after}::bigint`;
  const { rows } = await sql<{ id: string; unused: boolean }>`
    SELECT id::text AS id, ${IS_UNUSED} AS unused FROM (
      SELECT id FROM statistics_series ${start} ORDER BY id LIMIT ${sql.lit(PAGE_SERIES)}
    ) AS statistics_series
  `.execute(db);
  const ids = rows.map(({ id }) => id);
  return {
    unused: rows.filter(({ unused }) => unused).map(({ id }) => id),
    last:
      ids.length < PAGE_SERIES ? undefined : ids.reduce((a, b) => (BigInt(a) > BigInt(b) ? a : b)),
  };
}

/**
 * Deletes those of the series that still have no sums. No batch of records is stored meanwhile, because it could add sums
 * to a series that is deleted at the same moment.
 *
 * @returns how many were deleted
 */
export async function deleteUnusedSeries(
  db: Database,
  ids: readonly string[],
  lockTimeoutMs: number,
): Promise<number | Locked> {
  try {
    return await db.transaction().execute(async (transaction) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
      await sql`LOCK TABLE statistics_series IN SHARE ROW EXCLUSIVE MODE`.execute(transaction);
      const { numAffectedRows } = await sql`
        DELETE FROM statistics_series WHERE id = ANY(${ids}::bigint[]) AND ${IS_UNUSED}
      `.execute(transaction);
      return Number(numAffectedRows ?? 0n);
    });
  } catch (error) {
    if (isLockTimeout(error)) return 'locked';
    throw error;
  }
}
