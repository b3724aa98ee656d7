import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/** What must be published before all changes made so far in an environment are published. */
export interface PublicationTarget {
  readonly environment: string;
  /** The newest unpublished change; null: all changes are published. */
  readonly lastId: string | null;
  /** The published version; 0 before the first. */
  readonly version: number;
}

/** The targets of these environments at this moment; `*`: of all. */
export async function readPublicationTargets(
  db: Database,
  environments: readonly string[],
): Promise<readonly PublicationTarget[]> {
  const { rows } = await sql<PublicationTarget>`
    SELECT name AS environment, config_version::float8 AS version, (
      SELECT max(id)::text FROM config_outbox
      WHERE environment = environments.name AND published_version IS NULL
    ) AS "lastId"
    FROM environments
    WHERE name = ANY(${environments}::text[]) OR '*' = ANY(${environments}::text[])
  `.execute(db);
  return rows;
}

/** The published ones of the targets, each with the newest version of its environment. */
export async function readPublishedTargets(
  db: Database,
  targets: readonly PublicationTarget[],
): Promise<readonly PublicationTarget[]> {
  const names = targets.map(({ environment }) => environment);
  const ids = targets.map(({ lastId }) => lastId ?? '0');
  const { rows } = await sql<PublicationTarget>`
    SELECT target.environment, last_id::text AS "lastId", config_version::float8 AS version
    FROM unnest(${names}::text[], ${ids}::bigint[]) AS target (environment, last_id)
    JOIN environments ON environments.name = target.environment
    WHERE NOT EXISTS (
      SELECT 1 FROM config_outbox
      WHERE environment = target.environment AND published_version IS NULL AND id <= last_id
    )
  `.execute(db);
  return rows;
}
