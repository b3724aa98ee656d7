import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../store/database.ts';

/**
 * Where the history of an environment begins whose name another one had before. Data planes, control planes and Postgres
 * may have different clocks, so the begin is a place in the sequence of changes and versions; see docs/adr/0053.
 */
export interface HistoryBegin {
  readonly environment: string;
  readonly id: string;
  /** The changes from this one on are its own; null: the environment is deleted, and nothing is. */
  readonly firstChange: string | null;
  /** The versions from this one on are its own; null: none is published yet. */
  readonly firstVersion: number | null;
  /**
   * Undefined: what has no place in the sequence belongs to another environment. Else the environment was created again
   * before places were stored, and what has none is its own from this time on.
   */
  readonly unplacedFrom: Date | undefined;
}

/**
 * The begins that limit what a token may see; none for an environment that is the first of its name.
 *
 * @param environments what the token covers; undefined: all, also deleted ones
 */
export async function readHistoryBegins(
  db: Database,
  environments: readonly string[] | undefined,
): Promise<readonly HistoryBegin[]> {
  if (environments === undefined) return [];
  const { rows } = await sql<Omit<HistoryBegin, 'unplacedFrom'> & { from: Date | null }>`
    SELECT name AS environment, id,
      CASE WHEN deleted_at IS NULL THEN first_change::text END AS "firstChange",
      CASE WHEN deleted_at IS NULL THEN first_version::float8 END AS "firstVersion",
      CASE WHEN deleted_at IS NULL THEN unplaced_from END AS "from"
    FROM environments
    WHERE name = ANY(${environments}::text[])
      AND (deleted_at IS NOT NULL OR recreated)
  `.execute(db);
  return rows.map(({ from, ...begin }) => ({ ...begin, unplacedFrom: from ?? undefined }));
}

/** Whether a request that was served with this version of its environment is of its own history. */
export function isOwnVersion(
  begins: readonly HistoryBegin[],
  environment: string | null,
  version: number | null,
): boolean {
  const begin = begins.find((one) => one.environment === environment);
  if (begin === undefined) return true;
  return begin.firstVersion !== null && version !== null && version >= begin.firstVersion;
}

/**
 * A condition for each begin: a row is of another environment, or of the own history.
 *
 * @param isOf whether a row is of the environment
 * @param isOwn whether it is of the own history then
 */
export function ownHistory(
  begins: readonly HistoryBegin[],
  isOf: (environment: string) => RawBuilder<unknown>,
  isOwn: (begin: HistoryBegin) => RawBuilder<unknown>,
): readonly RawBuilder<unknown>[] {
  return begins.map((begin) => {
    return sql`(NOT coalesce(${isOf(begin.environment)}, false) OR coalesce(${isOwn(begin)}, false))`;
  });
}
