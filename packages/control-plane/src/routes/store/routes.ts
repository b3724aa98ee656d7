import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { Route } from '../route.ts';

export interface RouteFilter {
  /** Undefined: all of them. */
  readonly environments: readonly string[] | undefined;
  /** Undefined: all of them. */
  readonly names: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly serviceId?: string | undefined;
  readonly name?: string | undefined;
  /** A part of the name, in lower case, as names of routes are. */
  readonly search?: string | undefined;
  readonly status?: Route['status'] | undefined;
  /** The last id of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Routes by id, which is the order of creation. A search without a match reads every route that the other filters leave:
 * 4 ms for 10 000, so it has no index.
 */
export function listRoutes(db: Database, filter: RouteFilter): Promise<Route[]> {
  const { after, limit } = filter;
  const routes = routesOf(db, filter).selectAll();
  const from = after === undefined ? routes : routes.where('id', '>', after);
  return from.orderBy('id').limit(limit).execute();
}

/** The routes that the filter leaves, without an order. */
export function routesOf(db: Database, filter: Omit<RouteFilter, 'after' | 'limit'>) {
  const { environments, names, environment, serviceId, name, search, status } = filter;
  let query = db.selectFrom('routes');
  if (environments !== undefined) query = query.where('routes.environment', 'in', environments);
  if (names !== undefined) query = query.where('routes.name', 'in', names);
  if (environment !== undefined) query = query.where('routes.environment', '=', environment);
  if (serviceId !== undefined) {
    const named = db.selectFrom('route_services').select('route_id');
    query = query.where('routes.id', 'in', named.where('service_id', '=', serviceId));
  }
  if (name !== undefined) query = query.where('routes.name', '=', name);
  if (search !== undefined) query = query.where(sql<boolean>`strpos(routes.name, ${search}) > 0`);
  if (status !== undefined) query = query.where('routes.status', '=', status);
  return query;
}

export function findRoute(db: Database, id: string): Promise<Route | undefined> {
  return db.selectFrom('routes').selectAll().where('id', '=', id).executeTakeFirst();
}

export function routeNotFound(): GatewayError {
  return new GatewayError('route_not_found', 'There is no route with this id.');
}
