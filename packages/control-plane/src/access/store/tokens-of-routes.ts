import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { grantsScope, withContainedScopes, type TokenReach } from '@gateway/shared/tokens/scopes';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../store/database.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

/** The largest number of tokens that the error names, and of routes. */
const SHOWN = 10;

/**
 * Refuses to rename routes of an environment that tokens name: those tokens would lose the route, and gain whichever
 * takes the old name. Until the end of the transaction no token is created, so the answer stays true.
 *
 * @param names the present names of the routes that get another one
 * @param field of the request, which the error names
 * @param caller undefined: the control plane itself; it may read every name
 * @throws GatewayError in_use, which names only tokens that the caller may see
 */
export async function requireUnnamed(
  transaction: Database,
  environment: string,
  names: readonly string[],
  field: 'name' | 'version',
  caller: TokenReach | undefined,
): Promise<void> {
  if (names.length === 0) return;
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASS.routeNames}::int, 0)`.execute(transaction);
  const naming = transaction
    .selectFrom('tokens')
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .where(sql<boolean>`environments && ${[environment, '*']}::text[]`)
    .where(sql<boolean>`routes && ${[...names]}::text[]`);
  const { tokens } = await naming
    .select(sql<number>`count(*)::int`.as('tokens'))
    .executeTakeFirstOrThrow();
  if (tokens === 0) return;
  const shown =
    caller === undefined || grantsScope(caller.scopes, 'tokens:read')
      ? await (caller === undefined ? naming : naming.where(coveredBy(caller)))
          .select('name')
          .orderBy('name')
          .limit(SHOWN)
          .execute()
      : [];
  const { rows: named } = await sql<{ name: string }>`
    SELECT DISTINCT name FROM (${naming.select('routes')}) AS tokens, unnest(tokens.routes) AS name
    WHERE name IN (SELECT unnest(${[...names]}::text[]))
    ORDER BY name LIMIT ${SHOWN + 1}
  `.execute(transaction);
  throw inUse(field, namesOf(named), namesOf(shown), tokens);
}

const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

/** Waits for renames of routes, and lets none begin until the end of the transaction. */
export async function holdRouteNames(transaction: Database): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${LOCK_CLASS.routeNames}::int, 0)`.execute(
    transaction,
  );
}

/** Whether a token covers no more than `within`. */
export function coveredBy(within: TokenReach): RawBuilder<boolean> {
  const tests = (['environments', 'routes', 'scopes'] as const).flatMap((column) => {
    const given = within[column];
    const names = column === 'scopes' ? withContainedScopes(given) : given;
    return names.includes('*') ? [] : [sql`${sql.ref(column)} <@ ${[...names]}::text[]`];
  });
  return tests.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(tests, sql` AND `)}`;
}

/** @param routes those that tokens name, which the caller may see because it may rename them */
function inUse(
  field: string,
  routes: readonly string[],
  names: readonly string[],
  tokens: number,
): GatewayError {
  const more = tokens - names.length;
  const rest = names.length === 0 ? `${more} that the token does not cover` : `${more} more`;
  const all = more === 0 ? names : [...names, rest];
  const shown = routes.length > SHOWN ? [...routes.slice(0, SHOWN), 'and more'] : routes;
  const what = `the route${routes.length === 1 ? '' : 's'} ${shown.join(', ')}`;
  return new GatewayError('in_use', `These tokens name ${what}: ${all.join(', ')}.`, {
    details: [{ path: field, message: 'is named by tokens' }],
  });
}
