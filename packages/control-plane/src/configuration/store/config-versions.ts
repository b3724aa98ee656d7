import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/** The largest number of rows that one statement deletes. */
const DELETE_ROWS = 10_000;

/**
 * Deletes versions that were published before `beforeMs`, a bounded number at a time; never the newest
 * one of an environment.
 *
 * @returns how many were deleted
 */
export async function deleteVersions(db: Database, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM config_versions AS past USING (
      SELECT environment, version FROM config_versions AS old
      WHERE published_at < ${new Date(beforeMs)}
        AND version < (SELECT max(version) FROM config_versions WHERE environment = old.environment)
      LIMIT ${DELETE_ROWS}
    ) AS chosen
    WHERE past.environment = chosen.environment AND past.version = chosen.version
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Deletes changes that no stored version needs for its differences or for a roll-back. A bounded number at
 * a time.
 *
 * @returns how many were deleted
 */
export async function deleteChanges(db: Database): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM config_outbox WHERE id IN (
      SELECT past.id FROM environments, LATERAL (
        SELECT id FROM config_outbox
        WHERE environment = environments.name AND published_version < (
          SELECT min(version) FROM config_versions WHERE environment = environments.name
        )
        LIMIT ${DELETE_ROWS}
      ) AS past
      LIMIT ${DELETE_ROWS}
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

interface VersionOfEnvironment {
  readonly environment: string;
  readonly version: number;
}

/**
 * How long ago the next version after each of these was published, whole seconds; undefined if that is not
 * stored.
 */
export async function readSecondsBehind(
  db: Database,
  served: readonly VersionOfEnvironment[],
): Promise<(served: VersionOfEnvironment) => number | undefined> {
  const keyOf = ({ environment, version }: VersionOfEnvironment) => `${environment} ${version}`;
  // Most data planes are behind by the same version.
  const distinct = [...new Map(served.map((one) => [keyOf(one), one])).values()];
  const names = distinct.map(({ environment }) => environment);
  const versions = distinct.map(({ version }) => version);
  const { rows } =
    distinct.length === 0
      ? { rows: [] }
      : await sql<VersionOfEnvironment & { seconds: number | null }>`
    SELECT served.environment, served.version::float8 AS version, (
      SELECT floor(extract(epoch FROM clock_timestamp() - published_at))::float8
      FROM config_versions
      WHERE environment = served.environment AND version > served.version
      ORDER BY version LIMIT 1
    ) AS seconds
    FROM unnest(${names}::text[], ${versions}::bigint[]) AS served (environment, version)
  `.execute(db);
  const seconds = new Map(rows.map((row) => [keyOf(row), row.seconds ?? undefined]));
  return (one) => seconds.get(keyOf(one));
}
