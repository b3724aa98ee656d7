import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { sql } from 'kysely';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import type { StoredRoute, StoredRow, StoredService } from '../config-history.ts';
import type { ApplyPlan, EnvironmentRows } from '../plan-apply.ts';
import type { Database } from '../../store/database.ts';
import { readConsistently } from './configuration-rows.ts';
import { changeConfiguration, startEvent } from '../../changes/store/record-change.ts';
import { changeOf, newEventId, restore } from './roll-back.ts';
import { lockVersionState, readVersionState, type VersionState } from './version-state.ts';

/** Makes the plan of an apply from the rows of the environment. @throws GatewayError if there is none */
export type MakePlan = (rows: EnvironmentRows, at: Date) => ApplyPlan;

export interface ApplyTarget {
  readonly environment: string;
  /** The version that the caller knows; undefined: any. */
  readonly ifVersion: number | undefined;
}

/** The services and routes of an environment, by name. @throws GatewayError environment_not_found */
export function readEnvironmentRows(db: Database, environment: string): Promise<EnvironmentRows> {
  return readConsistently(db, async (transaction) => {
    await readVersionState(transaction, environment);
    return selectRows(transaction, environment);
  });
}

/**
 * Plans an apply without making it.
 *
 * @throws GatewayError environment_not_found, precondition_failed, and what `makePlan` throws
 */
export function planOnly(
  db: Database,
  target: ApplyTarget,
  at: Date,
  makePlan: MakePlan,
): Promise<ApplyPlan> {
  return readConsistently(db, async (transaction) => {
    requireVersion(await readVersionState(transaction, target.environment), target);
    return makePlan(await selectRows(transaction, target.environment), at);
  });
}

/**
 * Makes the services and routes of an environment as a plan says, in one transaction that excludes all other changes
 * of services and routes. All changes are published together, as one version.
 *
 * @throws GatewayError environment_not_found, precondition_failed, and what `makePlan` throws
 */
export function applyPlan(
  db: Database,
  target: ApplyTarget,
  origin: ChangeOrigin,
  makePlan: MakePlan,
): Promise<ApplyPlan> {
  return changeConfiguration(db, origin, 'rollback', async (transaction) => {
    requireVersion(await lockVersionState(transaction, target.environment), target);
    const rows = await selectRows(transaction, target.environment);
    const event = startEvent(origin, lastChanged([...rows.services, ...rows.routes]));
    const plan = makePlan(rows, event.at);
    const written = await restore(transaction, plan);
    const changes = written.map((one) => changeOf(one, newEventId(event)));
    return { result: plan, changes };
  });
}

function lastChanged(rows: readonly StoredRow[]): { updated_at: Date } | undefined {
  let latest = -Infinity;
  for (const { updated_at } of rows) latest = Math.max(latest, Date.parse(updated_at));
  return latest === -Infinity ? undefined : { updated_at: new Date(latest) };
}

async function selectRows(transaction: Database, environment: string): Promise<EnvironmentRows> {
  const select = async <Row>(table: string) => {
    const { rows } = await sql<{ row: Row }>`
      SELECT to_jsonb(stored) AS row FROM ${sql.table(table)} AS stored
      WHERE environment = ${environment} ORDER BY name COLLATE "C"
    `.execute(transaction);
    return rows.map(({ row }) => row);
  };
  return {
    services: await select<StoredService>('services'),
    routes: await select<StoredRoute>('routes'),
  };
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
