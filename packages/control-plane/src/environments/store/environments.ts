import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { sql } from 'kysely';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import { auditedEnvironment, type Environment } from '../environment.ts';
import type { Database } from '../../store/database.ts';
import {
  changeConfiguration,
  stampChange,
  type ChangeEvent,
  type RecordedChange,
} from '../../changes/store/record-change.ts';

/** Up to `limit` environments by name, after `after`; `names` undefined: all. */
export function listEnvironments(
  db: Database,
  filter: { names: readonly string[] | undefined; after: string | undefined; limit: number },
): Promise<Environment[]> {
  let query = db.selectFrom('environments').selectAll().where('deleted_at', 'is', null);
  if (filter.names !== undefined) query = query.where('name', 'in', filter.names);
  if (filter.after !== undefined) query = query.where('name', '>', filter.after);
  return query.orderBy('name').limit(filter.limit).execute();
}

/** @throws GatewayError environment_not_found */
export async function findEnvironment(db: Database, name: string): Promise<Environment> {
  const environment = await db
    .selectFrom('environments')
    .selectAll()
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (environment === undefined) throw environmentNotFound();
  return environment;
}

/**
 * Creates an environment and requests its first snapshot, which contains the tokens of all environments.
 *
 * @throws GatewayError name_conflict
 */
export function createEnvironment(
  db: Database,
  name: string,
  origin: ChangeOrigin,
): Promise<Environment> {
  return changeConfiguration(db, origin, 'environments', async (transaction) => {
    const event = stampChange(origin);
    const environment = await insertEnvironment(transaction, name, event.at);
    if (environment === undefined) {
      throw new GatewayError(
        'name_conflict',
        `An environment with the name ${name} exists already.`,
        { details: [{ path: 'name', message: 'is taken' }] },
      );
    }
    return { result: environment, changes: [environmentCreated(event, environment)] };
  });
}

/** Creates an environment, or a deleted one again. @returns undefined if it exists */
function insertEnvironment(
  transaction: Database,
  name: string,
  at: Date,
): Promise<Environment | undefined> {
  return transaction
    .insertInto('environments')
    .values({ name, created_at: at })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ created_at: at, deleted_at: null })
        .where('environments.deleted_at', 'is not', null),
    )
    .returningAll()
    .executeTakeFirst();
}

function environmentCreated(event: ChangeEvent, environment: Environment): RecordedChange {
  const { name } = environment;
  return {
    action: 'environment.created',
    resourceId: name,
    environments: [name],
    published: { kind: 'environment', before: null, after: null },
    audited: { event, before: null, after: auditedEnvironment(environment) },
  };
}

/** Creates the missing ones of the environments. Several replicas may call it at once. */
export function ensureEnvironments(
  db: Database,
  names: readonly string[],
  origin: ChangeOrigin,
): Promise<void> {
  return changeConfiguration(db, origin, 'environments', async (transaction) => {
    const changes: RecordedChange[] = [];
    for (const name of names) {
      const event = stampChange(origin);
      const environment = await insertEnvironment(transaction, name, event.at);
      if (environment !== undefined) changes.push(environmentCreated(event, environment));
    }
    return { result: undefined, changes };
  });
}

/**
 * The first of these names that no environment has; `*` is no name. Those that exist cannot be deleted until the end of
 * the transaction.
 */
export async function lockEnvironments(
  transaction: Database,
  names: readonly string[],
): Promise<string | undefined> {
  const wanted = names.filter((name) => name !== '*');
  if (wanted.length === 0) return undefined;
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM environments WHERE name = ANY(${wanted}::text[]) AND deleted_at IS NULL
    ORDER BY name FOR KEY SHARE
  `.execute(transaction);
  return wanted.find((name) => !rows.some((row) => row.name === name));
}

export function environmentNotFound(): GatewayError {
  return new GatewayError('environment_not_found', 'There is no environment with this name.');
}
