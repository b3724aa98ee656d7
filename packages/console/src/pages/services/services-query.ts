import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Statistics } from '../../api/client.ts';
import type { ServicesSearch } from './services-search.ts';

/** A page of the services of an environment, those that are not healthy first. */
export function servicesQuery(environment: string, { cursor, search, status }: ServicesSearch) {
  return queryOptions({
    queryKey: ['services', environment, 'list', { cursor, search, status }],
    queryFn: async ({ signal }) => {
      const query = {
        environment,
        order: 'status' as const,
        ...(cursor === undefined ? {} : { cursor }),
        ...(search === undefined ? {} : { search }),
        ...(status === undefined ? {} : { status }),
      };
      return (await gateway.get('/v1/services', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

/** The health of a service as each data plane reports it. */
export function serviceHealthQuery(id: string) {
  return queryOptions({
    queryKey: ['service-health', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await gateway.get('/v1/services/{id}/health', { params, signal })).body.data;
    },
    refetchInterval: 30_000,
  });
}

/** What a service had in the last hour. */
export type ServiceTraffic = Statistics['groups'][number];

/** The traffic of the last hour by the id of the service, of the 200 services with the most requests. */
export function serviceTrafficQuery(environment: string) {
  return queryOptions({
    queryKey: ['traffic', environment, 'services'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, ServiceTraffic>> => {
      const from = new Date(serverClock.nowMs() - 3_600_000).toISOString();
      const query = { environment, from, by: 'service_id' as const };
      const { groups } = (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
      return new Map(groups.flatMap((one) => (one.value === null ? [] : [[one.value, one]])));
    },
    refetchInterval: 15_000,
  });
}
