import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, type Route, type RouteTraffic } from '../../api/client.ts';
import type { RoutesSearch } from './routes-search.ts';

const PAGE_ROWS = 50;

/** A page of the routes of an environment that the filters leave. */
export function routesQuery(environment: string, filters: RoutesSearch) {
  const { service, order = 'name', ...others } = filters;
  return queryOptions({
    queryKey: ['routes', environment, filters],
    queryFn: async ({ signal }) => {
      const query = {
        environment,
        limit: PAGE_ROWS,
        order,
        ...others,
        ...(service === undefined ? {} : { service_id: service }),
      };
      return (await gateway.get('/v1/routes', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

/** The traffic of routes in the last hour, by minute, and the period. */
export interface TrafficOfRoutes {
  readonly from: string;
  readonly to: string;
  readonly byName: ReadonlyMap<string, RouteTraffic>;
}

/** The traffic of these routes in the last hour, by minute; those without requests are left out. At most a page of them. */
export function trafficOfRoutesQuery(environment: string, names: readonly string[]) {
  return queryOptions({
    queryKey: ['route-traffic', environment, names],
    queryFn: async ({ signal }): Promise<TrafficOfRoutes> => {
      const query = { environment, names: names.join(','), step: '1m' as const, limit: PAGE_ROWS };
      const { data } = (await gateway.get('/v1/stats/routes', { params: { query }, signal })).body;
      return {
        from: data.from,
        to: data.to,
        byName: new Map(data.routes.map((one) => [one.route, one])),
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}

/** The requests of the last hour by minute. */
export function routeTrafficQuery({ environment, name }: Pick<Route, 'environment' | 'name'>) {
  return trafficOfRoutesQuery(environment, [name]);
}
