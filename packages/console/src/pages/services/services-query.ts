import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';

/** A page of the services of an environment. */
export function servicesQuery(environment: string, cursor: string | undefined) {
  return queryOptions({
    queryKey: ['services', environment, cursor],
    queryFn: async ({ signal }) => {
      const query = { environment, ...(cursor === undefined ? {} : { cursor }) };
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
