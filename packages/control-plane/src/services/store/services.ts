import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import { coveredNames } from '../../access/access.ts';
import { MAX_PAGE_BYTES, readWithinBytes, type BoundedRows } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import type { Service } from '../service.ts';

/** The largest number of routes that the error names. */
const SHOWN_ROUTES = 10;

export interface ServiceFilter {
  /** Undefined: all of them. */
  readonly environments: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly name?: string | undefined;
  /** The last id of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Services by id, which is the order of creation. */
export function listServices(db: Database, filter: ServiceFilter): Promise<BoundedRows<Service>> {
  const { environments, environment, name, after } = filter;
  let query = db.selectFrom('services').selectAll();
  if (environments !== undefined) query = query.where('environment', 'in', environments);
  if (environment !== undefined) query = query.where('environment', '=', environment);
  if (name !== undefined) query = query.where('name', '=', name);
  if (after !== undefined) query = query.where('id', '>', after);
  return readWithinBytes(db, sql`${query.orderBy('id').limit(filter.limit)}`, {
    order: sql`id`,
    bytes: sql`octet_length(upstreams::text) + coalesce(octet_length(tls::text), 0)`,
    maxBytes: MAX_PAGE_BYTES,
  });
}

export function findService(db: Database, id: string): Promise<Service | undefined> {
  return db.selectFrom('services').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The services with these ids, by id. */
export async function findServices(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Service>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('services').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export function serviceNotFound(): GatewayError {
  return new GatewayError('service_not_found', 'There is no service with this id.');
}

/**
 * Refuses to delete services that routes name.
 *
 * @param reach whom the error may name routes to; undefined: the control plane itself
 * @throws GatewayError service_in_use
 */
export async function requireUnused(
  transaction: Database,
  ids: readonly string[],
  reach: TokenReach | undefined,
): Promise<void> {
  if (ids.length === 0) return;
  const using = transaction
    .selectFrom('route_services')
    .innerJoin('routes', 'routes.id', 'route_services.route_id')
    .where(sql<boolean>`route_services.service_id = ANY(${[...ids]}::text[])`);
  const { routes } = await using
    .select(sql<number>`count(DISTINCT routes.id)::int`.as('routes'))
    .executeTakeFirstOrThrow();
  if (routes === 0) return;
  const covered = reach && coveredNames(reach.routes);
  const named =
    covered === undefined
      ? using
      : using.where(sql<boolean>`routes.name = ANY(${[...covered]}::text[])`);
  const shown = await named
    .select('routes.name')
    .distinct()
    .orderBy('routes.name')
    .limit(SHOWN_ROUTES)
    .execute();
  throw inUse(
    shown.map(({ name }) => name),
    routes,
  );
}

function inUse(names: readonly string[], routes: number): GatewayError {
  const more = routes - names.length;
  const rest = names.length === 0 ? `${more} that the token does not cover` : `${more} more`;
  const all = more === 0 ? names : [...names, rest];
  return new GatewayError('service_in_use', `These routes name the service: ${all.join(', ')}.`);
}
