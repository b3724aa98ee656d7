import { sql } from 'kysely';
import type { Database } from './database.ts';
import { LOCK_CLASS } from './locks.ts';

/**
 * Notes a change of an environment's configuration. Called within the transaction of the change, so
 * there is never one without the other.
 */
export async function noteChange(
  transaction: Database,
  environment: string,
  change: string,
): Promise<void> {
  await transaction.insertInto('config_outbox').values({ environment, change }).execute();
}

/**
 * Notes a change of a token for every environment that it covers. Whoever calls this for a token of
 * all environments has called `lockEnvironments` before.
 */
export async function noteTokenChange(
  transaction: Database,
  environments: readonly string[],
  change: string,
): Promise<void> {
  await transaction
    .insertInto('config_outbox')
    .columns(['environment', 'change'])
    .expression((eb) => {
      const text = sql<string>`${change}::text`.as('change');
      const all = eb.selectFrom('environments').select(['name', text]);
      return environments.includes('*') ? all : all.where('name', 'in', environments);
    })
    .execute();
}

/**
 * Lets the transaction be the only one that makes an environment or changes a token of all of them.
 * Otherwise the two could miss each other, and the new environment would never learn of the token.
 */
export async function lockEnvironments(transaction: Database): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS.environments}::int, 0)`.execute(transaction);
}
