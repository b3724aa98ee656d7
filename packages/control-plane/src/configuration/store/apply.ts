import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { sql } from 'kysely';
import type { Route } from '../../routes/route.ts';
import type { Service } from '../../services/service.ts';
import type { Database } from '../../store/database.ts';
import type { EnvironmentRows } from '../plan-apply.ts';
import { readConsistently } from './configuration-rows.ts';
import { lockVersionState, readVersionState, type VersionState } from './version-state.ts';

export interface ApplyTarget {
  readonly environment: string;
  /** The version that the caller knows; undefined: any. */
  readonly ifVersion?: number | undefined;
}

/** The rows of an environment at one moment. */
export interface RowsThen extends EnvironmentRows {
  /** Another one after any change of any of the rows. */
  readonly state: string;
}

/**
 * Reads the services and routes of an environment, by name.
 *
 * @throws GatewayError environment_not_found, precondition_failed
 */
export function readEnvironmentRows(db: Database, target: ApplyTarget): Promise<RowsThen> {
  return readConsistently(db, async (transaction) => {
    requireVersion(await readVersionState(transaction, target.environment), target);
    return selectRows(transaction, target.environment);
  });
}

/**
 * Reads the rows again, under the lock of the change: `then` itself if none of them changed meanwhile.
 *
 * @param isDry nothing is locked
 * @throws GatewayError environment_not_found, precondition_failed
 */
export async function readRowsAgain(
  transaction: Database,
  target: ApplyTarget,
  then: RowsThen,
  isDry: boolean,
): Promise<RowsThen> {
  const readState = isDry ? readVersionState : lockVersionState;
  requireVersion(await readState(transaction, target.environment), target);
  const state = await stateOf(transaction, target.environment);
  return state === then.state ? then : selectRows(transaction, target.environment);
}

async function selectRows(transaction: Database, environment: string): Promise<RowsThen> {
  const select = async <Row>(table: string) => {
    const { rows } = await sql<{ row: Row }>`
      SELECT to_jsonb(stored) AS row FROM ${sql.table(table)} AS stored
      WHERE environment = ${environment} ORDER BY name COLLATE "C"
    `.execute(transaction);
    return rows.map(({ row }) => row);
  };
  return {
    services: await select<Service>('services'),
    routes: await select<Route>('routes'),
    state: await stateOf(transaction, environment),
  };
}

/** Of each row the transaction that wrote it. A revision would not do: a secret that is encrypted again keeps it. */
async function stateOf(transaction: Database, environment: string): Promise<string> {
  const { rows } = await sql<{ state: string }>`
    SELECT md5(coalesce(string_agg(id || ' ' || written, ',' ORDER BY id), '')) AS state FROM (
      SELECT id, xmin::text AS written FROM services WHERE environment = ${environment}
      UNION ALL SELECT id, xmin::text FROM routes WHERE environment = ${environment}
    ) AS stored
  `.execute(transaction);
  return rows[0]?.state ?? '';
}

/** @throws GatewayError precondition_failed */
function requireVersion(
  { config_version: version, pending }: VersionState,
  { ifVersion }: ApplyTarget,
): void {
  if (ifVersion === undefined || (version === ifVersion && !pending)) return;
  const newer = pending ? 'and newer changes wait to be published' : 'which is the newest';
  throw new GatewayError(
    'precondition_failed',
    `if_version is ${ifVersion}, but the configuration has version ${version}, ${newer}.`,
  );
}
