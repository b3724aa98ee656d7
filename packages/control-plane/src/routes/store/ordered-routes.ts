import { sql, type RawBuilder } from 'kysely';
import type { Route } from '../route.ts';
import { measureOf, type OrderPosition, type RouteOrder } from '../route-order.ts';
import { statisticsPeriod } from '../../statistics/statistics-period.ts';
import { segmentsOf } from '../../statistics/statistics-segments.ts';
import { routeValues, type RouteValue } from '../../statistics/store/route-values.ts';
import type { Database } from '../../store/database.ts';
import { isAfter } from '../../store/keyset.ts';
import { routesOf, type RouteFilter } from './routes.ts';

/** A route, and the value that its place in the list follows from, as text. */
export interface OrderedRoute {
  readonly route: Route;
  readonly key: string;
}

export interface RouteListQuery extends Omit<RouteFilter, 'after'> {
  readonly order: RouteOrder;
  readonly after: OrderPosition | undefined;
  /** The end of the hour whose traffic is compared, ms since the Unix epoch. */
  readonly toMs: number;
}

/** Less than every number of requests. */
const NO_REQUESTS = sql`-1`;

/** The routes of a list in an order; those that are equal in it by id. */
export async function listOrderedRoutes(
  db: Database,
  query: RouteListQuery,
): Promise<readonly OrderedRoute[]> {
  const { order, after, limit } = query;
  const traffic = await trafficOf(db, query);
  const key = keyOf(order);
  const filtered = routesOf(db, query)
    .$if(traffic !== undefined, (routes) =>
      routes.leftJoin((traffic ?? sql<RouteValue>`()`).as<'traffic'>('traffic'), (join) =>
        join
          .onRef('traffic.environment', '=', 'routes.environment')
          .onRef('traffic.route', '=', 'routes.name'),
      ),
    )
    .selectAll('routes')
    .select(sql<string>`(${key})::text`.as('order_key'));
  const from =
    after === undefined
      ? filtered
      : filtered.where(
          isAfter({
            key,
            value: order.by === 'name' ? sql`${after.key}::text` : sql`${after.key}::numeric`,
            isDescending: order.isDescending,
            idColumn: 'routes.id',
            id: after.id,
          }),
        );
  const direction = order.isDescending ? sql`DESC` : sql`ASC`;
  const rows = await from
    .orderBy(sql`${key} ${direction}`)
    .orderBy('routes.id')
    .limit(limit)
    .execute();
  return rows.map(({ order_key, ...route }) => ({ route, key: order_key }));
}

function keyOf({ by }: RouteOrder): RawBuilder<unknown> {
  if (by === 'name') return sql`routes.name`;
  if (by === 'updated_at') return sql`extract(epoch FROM routes.updated_at)::numeric`;
  return sql`coalesce(traffic.value, ${NO_REQUESTS})`;
}

/** The values that the routes are ordered by; undefined: they are fields of the routes. */
async function trafficOf(
  db: Database,
  { order, environments, names, environment, toMs }: RouteListQuery,
): Promise<RawBuilder<RouteValue> | undefined> {
  const measure = measureOf(order);
  if (measure === undefined) return undefined;
  const period = statisticsPeriod(undefined, toMs, toMs);
  const segments = period === undefined ? [] : segmentsOf(period.fromMs, period.toMs, undefined);
  return routeValues(db, { segments, environments, routes: names, environment }, measure);
}
