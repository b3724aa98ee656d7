import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import { coveredNames } from '../../access/access.ts';
import { MAX_PAGE_BYTES, readWithinBytes, type BoundedRows } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import type { IdFilter } from '../service-health-filter.ts';
import type { Service } from '../service.ts';

/** The largest number of routes that the error names. */
const SHOWN_ROUTES = 10;

export interface ServiceFilter {
  /** Undefined: all of them. */
  readonly environments: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly name?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** A part of the name or of the URL of an upstream, in lower case. */
  readonly search?: string | undefined;
  /** Those of a status. */
  readonly withStatus?: IdFilter | undefined;
  /** The last id of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Services by id, which is the order of creation. */
export function listServices(db: Database, filter: ServiceFilter): Promise<BoundedRows<Service>> {
  const { after, limit } = filter;
  let query = servicesOf(db, filter).selectAll();
  if (after !== undefined) query = query.where('id', '>', after);
  return readWithinBytes(db, sql`${query.orderBy('id').limit(limit)}`, {
    order: sql`id`,
    bytes: LARGE_COLUMNS,
    maxBytes: MAX_PAGE_BYTES,
  });
}

const LARGE_COLUMNS = sql`octet_length(upstreams::text) + coalesce(octet_length(tls::text), 0)`;

/** A service, and how bad it is: 0 unhealthy, 1 degraded, 2 all others. */
export type RankedService = Service & { readonly rank: number };

export interface RankedFilter extends Omit<ServiceFilter, 'after'> {
  readonly unhealthy: readonly string[];
  readonly degraded: readonly string[];
  /** The last service of the page before. */
  readonly after?: { readonly rank: number; readonly id: string } | undefined;
}

/** The worst services first; those that are equally bad by id. */
export function listWorstServices(
  db: Database,
  filter: RankedFilter,
): Promise<BoundedRows<RankedService>> {
  const { unhealthy, degraded, after, limit } = filter;
  const rank = sql<number>`CASE WHEN id = ANY(${[...unhealthy]}::text[]) THEN 0
    WHEN id = ANY(${[...degraded]}::text[]) THEN 1 ELSE 2 END`;
  let query = servicesOf(db, filter).selectAll().select(rank.as('rank'));
  if (after !== undefined) {
    query = query.where(sql<boolean>`(${rank}, id) > (${after.rank}::integer, ${after.id})`);
  }
  return readWithinBytes(db, sql`${query.orderBy(rank).orderBy('id').limit(limit)}`, {
    order: sql`rank, id`,
    bytes: LARGE_COLUMNS,
    maxBytes: MAX_PAGE_BYTES,
  });
}

/** The services that the filter leaves, without an order. A search reads all that the other filters leave. */
function servicesOf(db: Database, filter: Omit<ServiceFilter, 'after' | 'limit'>) {
  const { environments, environment, name, ids: only, search, withStatus } = filter;
  let query = db.selectFrom('services');
  if (environments !== undefined) query = query.where('environment', 'in', environments);
  if (environment !== undefined) query = query.where('environment', '=', environment);
  if (name !== undefined) query = query.where('name', '=', name);
  if (only !== undefined) query = query.where('id', 'in', only);
  if (search !== undefined) query = query.where(matches(search));
  if (withStatus !== undefined) {
    const { ids, isExcluded } = withStatus;
    const isOne = sql<boolean>`id = ANY(${[...ids]}::text[])`;
    query = query.where(isExcluded ? sql<boolean>`NOT ${isOne}` : isOne);
  }
  return query;
}

function matches(search: string) {
  return sql<boolean>`(strpos(lower(name), ${search}) > 0 OR EXISTS (
    SELECT FROM jsonb_array_elements(upstreams) AS upstream
    WHERE strpos(lower(upstream ->> 'url'), ${search}) > 0
  ))`;
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
