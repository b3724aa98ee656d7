import { sql } from 'kysely';
import type { EnvironmentVersion } from '../../environments/environment.ts';
import type { Database } from '../../store/database.ts';
import { environmentNotFound, lockEnvironments } from '../../environments/store/environments.ts';

/** How far the configuration of an environment is published, and whether it differs from the newest version. */
export interface VersionState extends EnvironmentVersion {
  /**
   * Whether services or routes have changes that no version has yet, or the newest version is one of an environment that
   * had the name before.
   */
  readonly pending: boolean;
}

/**
 * Reads all of it at one moment, because a publication may end between two statements.
 *
 * @throws GatewayError environment_not_found
 */
export async function readVersionState(db: Database, environment: string): Promise<VersionState> {
  const { rows } = await sql<VersionState>`
    SELECT id, config_version::float8 AS config_version, first_version::float8 AS first_version,
      (recreated AND first_version IS NULL) OR EXISTS (
        SELECT FROM config_outbox
        WHERE environment = environments.name AND published_version IS NULL
          AND kind IN ('service', 'route')
      ) AS pending
    FROM environments WHERE name = ${environment} AND deleted_at IS NULL
  `.execute(db);
  const [state] = rows;
  if (state === undefined) throw environmentNotFound();
  return state;
}

/**
 * As `readVersionState`, for a change of the environment: until the end of the transaction it cannot be deleted, nor
 * another one be created under its name.
 *
 * @throws GatewayError environment_not_found
 */
export async function lockVersionState(
  transaction: Database,
  environment: string,
): Promise<VersionState> {
  const missing = await lockEnvironments(transaction, [environment]);
  if (missing !== undefined) throw environmentNotFound();
  return readVersionState(transaction, environment);
}
