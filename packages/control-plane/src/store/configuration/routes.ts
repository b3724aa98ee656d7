import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import { routeView } from '../../domain/route-view.ts';
import { settingsOf, type Route, type RouteSettings } from '../../domain/route.ts';
import { noteAuditEvent } from './audit-events.ts';
import type { Database } from '../database.ts';
import { replacingViolation } from '../failures.ts';
import { lockConfiguration, noteChange } from '../publication/outbox.ts';
import { serviceNotFound } from './services.ts';

export interface RouteFilter {
  /** Undefined: all of them. */
  readonly environments: readonly string[] | undefined;
  /** Undefined: all of them. */
  readonly names: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly serviceId?: string | undefined;
  readonly name?: string | undefined;
  /** The id of the last one of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Routes by id, which is the order of their making. */
export function listRoutes(db: Database, filter: RouteFilter): Promise<Route[]> {
  const { environments, names, environment, serviceId, name, after } = filter;
  let query = db.selectFrom('routes').selectAll();
  if (environments !== undefined) query = query.where('environment', 'in', environments);
  if (names !== undefined) query = query.where('name', 'in', names);
  if (environment !== undefined) query = query.where('environment', '=', environment);
  if (serviceId !== undefined) {
    const named = db.selectFrom('route_services').select('route_id');
    query = query.where('id', 'in', named.where('service_id', '=', serviceId));
  }
  if (name !== undefined) query = query.where('name', '=', name);
  if (after !== undefined) query = query.where('id', '>', after);
  return query.orderBy('id').limit(filter.limit).execute();
}

export function findRoute(db: Database, id: string): Promise<Route | undefined> {
  return db.selectFrom('routes').selectAll().where('id', '=', id).executeTakeFirst();
}

export type NewRoute = RouteSettings & { readonly id: string; readonly environment: string };

/** @throws GatewayError name_conflict; service_not_found where the service was deleted meanwhile. */
export function createRoute(db: Database, route: NewRoute, origin: ChangeOrigin): Promise<Route> {
  const { id, environment } = route;
  const now = origin.at;
  return withKnownFailures(() =>
    db.transaction().execute(async (transaction) => {
      await lockConfiguration(transaction, 'shared');
      const row = await transaction
        .insertInto('routes')
        .values({ id, environment, ...columns(route), created_at: now, updated_at: now })
        .returningAll()
        .executeTakeFirstOrThrow();
      await noteChange(transaction, origin, 'created', { kind: 'route', before: null, after: row });
      await noteAuditEvent(transaction, origin, {
        action: 'route.created',
        ...{ resourceId: id, environments: [environment], routes: [row.name] },
        ...{ before: null, after: routeView(row) },
      });
      return row;
    }),
  );
}

/**
 * Changes a route to what `decide` makes of it while nobody else can change it. Settings that stay
 * the same object leave everything as it is, its revision included.
 *
 * @throws GatewayError route_not_found, name_conflict, service_not_found, and what `decide` throws.
 */
export function updateRoute(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  decide: (current: Route) => RouteSettings,
): Promise<Route> {
  return withKnownFailures(() =>
    db.transaction().execute(async (transaction) => {
      await lockConfiguration(transaction, 'shared');
      const current = await lockRoute(transaction, id);
      const wanted = decide(current);
      if (wanted === current) return current;
      const row = await transaction
        .updateTable('routes')
        .set({ ...columns(wanted), revision: current.revision + 1, updated_at: origin.at })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      await noteChange(transaction, origin, 'updated', {
        kind: 'route',
        before: current,
        after: row,
      });
      await noteAuditEvent(transaction, origin, {
        action: 'route.updated',
        ...{ resourceId: id, environments: [row.environment], routes: [current.name, row.name] },
        ...{ before: routeView(current), after: routeView(row) },
      });
      return row;
    }),
  );
}

/** Gives the route as it was. @throws GatewayError route_not_found, and what `check` throws. */
export function deleteRoute(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  check: (current: Route) => void,
): Promise<Route> {
  return db.transaction().execute(async (transaction) => {
    await lockConfiguration(transaction, 'shared');
    const current = await lockRoute(transaction, id);
    check(current);
    await transaction.deleteFrom('routes').where('id', '=', id).execute();
    await noteChange(transaction, origin, 'deleted', {
      kind: 'route',
      before: current,
      after: null,
    });
    await noteAuditEvent(transaction, origin, {
      action: 'route.deleted',
      ...{ resourceId: id, environments: [current.environment], routes: [current.name] },
      ...{ before: routeView(current), after: null },
    });
    return current;
  });
}

async function lockRoute(transaction: Database, id: string): Promise<Route> {
  const row = await transaction
    .selectFrom('routes')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw routeNotFound();
  return row;
}

export function routeNotFound(): GatewayError {
  return new GatewayError('route_not_found', 'There is no route of this id.');
}

function nameTaken(): GatewayError {
  return new GatewayError('name_conflict', 'A route of this name exists in the environment.', {
    details: [{ path: 'name', message: 'is taken' }],
  });
}

/** A service that was deleted since it was looked up breaks one of two keys: see migration 0003. */
function withKnownFailures<T>(run: () => Promise<T>): Promise<T> {
  return replacingViolation('routes_service_fkey', serviceNotFound, () =>
    replacingViolation('route_services_service_fkey', serviceNotFound, () =>
      replacingViolation('routes_name_key', nameTaken, run),
    ),
  );
}

function columns(route: RouteSettings) {
  const { versions, auth, rate_limit, retry, idempotency, methods, regions, ...plain } =
    settingsOf(route);
  return {
    ...plain,
    methods,
    regions: [...regions],
    versions: versions === null ? null : JSON.stringify(versions),
    idempotency: JSON.stringify(idempotency),
    auth: JSON.stringify(auth),
    rate_limit: JSON.stringify(rate_limit),
    retry: JSON.stringify(retry),
  };
}
