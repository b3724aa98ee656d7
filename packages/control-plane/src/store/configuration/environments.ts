import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import { auditedEnvironment, type Environment } from '../../domain/environment.ts';
import { noteAuditEvent } from './audit-events.ts';
import type { Database } from '../database.ts';
import { replacingViolation } from '../failures.ts';
import { lockEnvironments, noteEnvironment } from '../publication/outbox.ts';

/** Up to `limit` environments by name, those after `after`; `names` undefined means all. */
export function listEnvironments(
  db: Database,
  filter: { names: readonly string[] | undefined; after: string | undefined; limit: number },
): Promise<Environment[]> {
  let query = db.selectFrom('environments').selectAll();
  if (filter.names !== undefined) query = query.where('name', 'in', filter.names);
  if (filter.after !== undefined) query = query.where('name', '>', filter.after);
  return query.orderBy('name').limit(filter.limit).execute();
}

/** @throws GatewayError environment_not_found */
export async function findEnvironment(db: Database, name: string): Promise<Environment> {
  const query = db.selectFrom('environments').selectAll().where('name', '=', name);
  const environment = await query.executeTakeFirst();
  if (environment === undefined) throw environmentNotFound();
  return environment;
}

/**
 * Makes an environment and asks for its first snapshot, so that the tokens of all environments get
 * in there.
 *
 * @throws GatewayError name_conflict
 */
export function createEnvironment(
  db: Database,
  name: string,
  origin: ChangeOrigin,
): Promise<Environment> {
  const taken = () =>
    new GatewayError('name_conflict', `An environment of the name ${name} exists already.`, {
      details: [{ path: 'name', message: 'is taken' }],
    });
  return replacingViolation('environments_pkey', taken, () =>
    db.transaction().execute(async (transaction) => {
      await lockEnvironments(transaction);
      const environment = await transaction
        .insertInto('environments')
        .values({ name, created_at: origin.at })
        .returningAll()
        .executeTakeFirstOrThrow();
      await noteCreation(transaction, origin, environment);
      return environment;
    }),
  );
}

async function noteCreation(
  transaction: Database,
  origin: ChangeOrigin,
  environment: Environment,
): Promise<void> {
  const { name } = environment;
  await noteEnvironment(transaction, origin, name);
  await noteAuditEvent(transaction, origin, {
    action: 'environment.created',
    ...{ resourceId: name, environments: [name] },
    ...{ before: null, after: auditedEnvironment(environment) },
  });
}

/**
 * Makes those environments that are missing; safe with several replicas at once.
 *
 * @param newOrigin called for each, as each that is made has an audit event of its own
 */
export async function ensureEnvironments(
  db: Database,
  names: readonly string[],
  newOrigin: () => ChangeOrigin,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await lockEnvironments(transaction);
    for (const name of names) {
      const origin = newOrigin();
      const environment = await transaction
        .insertInto('environments')
        .values({ name, created_at: origin.at })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst();
      if (environment !== undefined) await noteCreation(transaction, origin, environment);
    }
  });
}

/** @throws GatewayError environment_not_found naming the first of these that does not exist. */
export async function requireEnvironments(db: Database, names: readonly string[]): Promise<void> {
  const wanted = names.filter((name) => name !== '*');
  if (wanted.length === 0) return;
  const rows = await db
    .selectFrom('environments')
    .select('name')
    .where('name', 'in', wanted)
    .execute();
  const missing = wanted.find((name) => !rows.some((row) => row.name === name));
  if (missing !== undefined) throw environmentNotFound();
}

export function environmentNotFound(): GatewayError {
  return new GatewayError('environment_not_found', 'There is no environment of this name.');
}
