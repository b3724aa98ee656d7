import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

export interface EnvironmentState {
  readonly environment: string;
  /** The published version; 0 before the first. */
  readonly configVersion: number;
  readonly pendingChanges: number;
  /** The newest version with a snapshot; later ones are deltas. */
  readonly snapshotVersion: number;
  /** Time since the last snapshot was begun, ms; Infinity if there is none. */
  readonly snapshotAgeMs: number;
  /** How long the last one took, ms. */
  readonly snapshotCostMs: number;
}

interface StateRow {
  readonly name: string;
  readonly config_version: number;
  readonly snapshot_version: number;
  readonly snapshot_cost_ms: number;
  readonly snapshot_age_ms: number | null;
  readonly pending: number;
}

/** The state of publication of every environment, without reading its configuration. */
export async function listPublicationStates(db: Database): Promise<readonly EnvironmentState[]> {
  const { rows } = await sql<StateRow>`
    SELECT name, config_version::float8 AS config_version, coalesce(pending, 0)::int AS pending,
      snapshot_version::float8 AS snapshot_version, snapshot_cost_ms,
      (extract(epoch FROM clock_timestamp() - snapshot_at) * 1000)::float8 AS snapshot_age_ms
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
    snapshotVersion: row.snapshot_version,
    snapshotAgeMs: row.snapshot_age_ms ?? Infinity,
    snapshotCostMs: row.snapshot_cost_ms,
  }));
}

/** Notified with the environment after each publication, by whichever control plane. */
export const PUBLISHED_CHANNEL = 'config_published';

/** A stored publication; `why` is its reason. */
export interface Publication {
  readonly version: number;
  readonly why: string;
}

/**
 * Stores that a version is published, why, and with which changes. If another control plane has stored a
 * later version meanwhile, the environment keeps that one, and this version is not in the history: its
 * changes are stored with the later version, so its content could not be derived from them.
 *
 * @returns how long the oldest change waited, ms; undefined if there are no changes.
 */
export function markPublished(
  db: Database,
  environment: string,
  { version, why }: Publication,
  pendingIds: readonly string[],
): Promise<number | undefined> {
  return db.transaction().execute(async (transaction) => {
    await sql`
      UPDATE environments SET config_version = greatest(config_version, ${version}::bigint)
      WHERE name = ${environment}
    `.execute(transaction);
    // Delivered after the commit, so the receiver can read the publication.
    await sql`
      WITH stored AS (
        INSERT INTO config_versions (environment, version, why)
        SELECT name, config_version, ${why} FROM environments
        WHERE name = ${environment} AND config_version = ${version}::bigint
        ON CONFLICT DO NOTHING
      )
      SELECT pg_notify(${PUBLISHED_CHANNEL}, ${environment})
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

/**
 * Claims the next snapshot of the environment for the caller, unless one was begun in the last `minAgeMs`.
 * All control planes see the same need for one, and one of them makes it.
 */
export async function claimSnapshot(
  db: Database,
  environment: string,
  minAgeMs: number,
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE environments SET snapshot_at = clock_timestamp()
    WHERE name = ${environment} AND (snapshot_at IS NULL
      OR snapshot_at <= clock_timestamp() - ${minAgeMs}::float8 * interval '1 millisecond')
    RETURNING name
  `.execute(db);
  return rows.length > 0;
}

/** Stores that a version has a snapshot, and how long it took if it was made just now. */
export async function markSnapshot(
  db: Database,
  environment: string,
  version: number,
  costMs: number | undefined,
): Promise<void> {
  const cost = costMs === undefined ? null : Math.ceil(costMs);
  await sql`
    UPDATE environments SET
      snapshot_version = greatest(snapshot_version, ${version}::bigint),
      snapshot_at = CASE WHEN ${cost}::int IS NULL THEN snapshot_at ELSE clock_timestamp() END,
      snapshot_cost_ms = coalesce(${cost}::int, snapshot_cost_ms)
    WHERE name = ${environment}
  `.execute(db);
}
