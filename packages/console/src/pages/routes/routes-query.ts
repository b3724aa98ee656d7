import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, type Route } from '../../api/client.ts';
import type { RoutesSearch } from './routes-search.ts';

const PAGE_ROWS = 50;

/** A page of the routes of an environment that the filters leave. */
export function routesQuery(environment: string, filters: RoutesSearch) {
  const { service, ...others } = filters;
  return queryOptions({
    queryKey: ['routes', environment, filters],
    queryFn: async ({ signal }) => {
      const query = {
        environment,
        limit: PAGE_ROWS,
        ...others,
        ...(service === undefined ? {} : { service_id: service }),
      };
      return (await gateway.get('/v1/routes', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

/** The requests of the last hour by minute. */
export function routeTrafficQuery({ environment, name }: Pick<Route, 'environment' | 'name'>) {
  return queryOptions({
    queryKey: ['route-traffic', environment, name],
    queryFn: async ({ signal }) => {
      const query = { environment, route: name, step: '1m' as const };
      return (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
    },
    refetchInterval: 15_000,
  });
}
