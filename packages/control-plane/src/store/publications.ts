import { sql } from 'kysely';
import type { Database } from './database.ts';

export interface EnvironmentState {
  readonly environment: string;
  /** The version that was last published; 0 before the first. */
  readonly configVersion: number;
  readonly pendingChanges: number;
}

/** Every environment with how far it is published, without reading its configuration. */
export async function listPublicationStates(db: Database): Promise<readonly EnvironmentState[]> {
  const { rows } = await sql<{ name: string; config_version: number; pending: number }>`
    SELECT name, config_version::float8 AS config_version, coalesce(pending, 0)::int AS pending
    FROM environments
    LEFT JOIN (
      SELECT environment, count(*) AS pending FROM config_outbox
      WHERE published_version IS NULL GROUP BY environment
    ) AS waiting ON waiting.environment = environments.name
    ORDER BY name
  `.execute(db);
  return rows.map((row) => ({
    environment: row.name,
    configVersion: row.config_version,
    pendingChanges: row.pending,
  }));
}

/**
 * Notes that a snapshot is published and which changes it holds. A version that is already behind
 * another one, published meanwhile, does not set the environment's back.
 *
 * @returns how long the oldest of the changes waited, ms; undefined where there were none.
 */
export function markPublished(
  db: Database,
  environment: string,
  version: number,
  pendingIds: readonly string[],
): Promise<number | undefined> {
  return db.transaction().execute(async (transaction) => {
    await sql`
      UPDATE environments SET config_version = greatest(config_version, ${version}::bigint)
      WHERE name = ${environment}
    `.execute(transaction);
    const { rows } = await sql<{ lag_ms: number | null }>`
      WITH marked AS (
        UPDATE config_outbox SET published_version = ${version}::bigint
        WHERE id = ANY(${pendingIds}::bigint[]) AND published_version IS NULL
        RETURNING created_at
      )
      SELECT (extract(epoch FROM clock_timestamp() - min(created_at)) * 1000)::float8 AS lag_ms
      FROM marked
    `.execute(transaction);
    return rows[0]?.lag_ms ?? undefined;
  });
}

/** Forgets changes that were published before `before`, a bounded number at a time. */
export async function deletePublishedChanges(db: Database, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM config_outbox WHERE id IN (
      SELECT id FROM config_outbox
      WHERE published_version IS NOT NULL AND created_at < ${new Date(beforeMs)}
      ORDER BY id LIMIT 10000
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
