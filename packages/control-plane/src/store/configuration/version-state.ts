import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { environmentNotFound, lockEnvironments } from './environments.ts';

/** How far the configuration of an environment is published. */
export interface VersionState {
  /** The newest version. */
  readonly version: number;
  /** Whether services or routes have changes that no version has yet. */
  readonly pending: boolean;
}

/** Reads both at one moment, because a publication may end between two statements. Undefined: no such environment. */
export async function readVersionState(
  db: Database,
  environment: string,
): Promise<VersionState | undefined> {
  const { rows } = await sql<VersionState>`
    SELECT config_version::float8 AS version, EXISTS (
      SELECT FROM config_outbox
      WHERE environment = environments.name AND published_version IS NULL
        AND kind IN ('service', 'route')
    ) AS pending
    FROM environments WHERE name = ${environment} AND deleted_at IS NULL
  `.execute(db);
  return rows[0];
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
  const state = await readVersionState(transaction, environment);
  if (missing !== undefined || state === undefined) throw environmentNotFound();
  return state;
}
