import { sql } from 'kysely';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import type { Database } from '../database.ts';
import { LOCK_CLASS } from '../locks.ts';

/** What a change was made to: published alone by its id, and kept as it was before and after. */
export interface ChangedEntity {
  readonly kind: 'service' | 'route';
  /** The whole stored row; null where there was none. One of the two is there. */
  readonly before: StoredEntity | null;
  readonly after: StoredEntity | null;
}

interface StoredEntity {
  readonly id: string;
  readonly environment: string;
}

/** Whose token makes a change; null: none does. */
export type Author = Pick<ChangeOrigin, 'tokenId'>;

/** A change of a service or a route, and what was done, such as `created`. */
export interface NotedChange extends ChangedEntity {
  readonly action: string;
}

/** What the control plane does by itself. */
export const NOBODY: Author = { tokenId: null };

/**
 * Notes a change of a service or a route. Called within the transaction of the change, so there is
 * never one without the other.
 */
export async function noteChange(
  transaction: Database,
  author: Author,
  action: string,
  change: ChangedEntity,
): Promise<void> {
  await noteChanges(transaction, author, [{ ...change, action }]);
}

/** As `noteChange`, of one or more. */
export async function noteChanges(
  transaction: Database,
  author: Author,
  changes: readonly NotedChange[],
): Promise<void> {
  const rows = changes.map(({ kind, action, before, after }) => {
    const entity = after ?? before;
    if (entity === null) throw new Error('a change has something before it or after it');
    return {
      environment: entity.environment,
      change: `${kind}.${action} ${entity.id}`,
      ...{ kind, entity_id: entity.id, token_id: author.tokenId },
      before: before === null ? null : JSON.stringify(before),
      after: after === null ? null : JSON.stringify(after),
    };
  });
  await transaction.insertInto('config_outbox').values(rows).execute();
}

/** Notes that an environment was made, in the transaction that makes it. */
export async function noteEnvironment(
  transaction: Database,
  author: Author,
  name: string,
): Promise<void> {
  const made = { change: 'environment.created', kind: 'environment', entity_id: name } as const;
  await transaction
    .insertInto('config_outbox')
    .values({ environment: name, ...made, token_id: author.tokenId })
    .execute();
}

/**
 * Notes a change of a token for every environment that it covers. Whoever calls this for a token of
 * all environments has called `lockEnvironments` before.
 *
 * @param action what was done to it, such as `created`
 */
export async function noteTokenChange(
  transaction: Database,
  author: Author,
  environments: readonly string[],
  action: string,
  id: string,
): Promise<void> {
  await transaction
    .insertInto('config_outbox')
    .columns(['environment', 'change', 'kind', 'entity_id', 'token_id'])
    .expression((eb) => {
      const all = eb
        .selectFrom('environments')
        .select([
          'name',
          sql<string>`${`token.${action} ${id}`}::text`.as('change'),
          sql<'token'>`'token'`.as('kind'),
          sql<string>`${id}::text`.as('entity_id'),
          sql<string | null>`${author.tokenId}::text`.as('token_id'),
        ]);
      return environments.includes('*') ? all : all.where('name', 'in', environments);
    })
    .execute();
}

/**
 * Lets changes of services and routes run side by side, and a roll-back alone: it writes what many of
 * them are from what they were. The first statement of the transaction, before any row is locked.
 */
export async function lockConfiguration(
  transaction: Database,
  mode: 'shared' | 'alone',
): Promise<void> {
  const take = mode === 'alone' ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
  await sql`SELECT ${take}(${LOCK_CLASS.configuration}::int, 0)`.execute(transaction);
}

/**
 * Lets the transaction be the only one that makes an environment or changes a token of all of them.
 * Otherwise the two could miss each other, and the new environment would never learn of the token.
 */
export async function lockEnvironments(transaction: Database): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS.environments}::int, 0)`.execute(transaction);
}
