import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, type RequestRecord } from '../../api/client.ts';
import { serviceHealthQuery } from '../services/services-query.ts';
import { useScope } from '../../api/rights.ts';

/** A service, for the names in the record of a request. */
function recordedServiceQuery(id: string) {
  return queryOptions({
    // Begins as the lists of services do, so that a change of one refreshes it.
    queryKey: ['services', 'recorded', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await gateway.get('/v1/services/{id}', { params, signal })).body.data;
    },
    staleTime: 30_000,
  });
}

/** The service of a request as it is now; undefined if it is gone, or if the token may not read services. */
export function useRecordedService({ service_id: id }: Pick<RequestRecord, 'service_id'>) {
  const { allowed } = useScope('services:read');
  const { data } = useQuery({ ...recordedServiceQuery(id ?? ''), enabled: allowed && id !== null });
  return data;
}

/** The URLs of upstreams by id: that of the last attempt from the record, those of others if the service has them still. */
export function useUpstreamUrls(record: RequestRecord): ReadonlyMap<string, string> {
  const { service_id: id, upstream, attempts } = record;
  const { allowed } = useScope('services:read');
  // A service has no ids of upstreams, but its health does.
  const needed = attempts.length > 1 && id !== null;
  const { data } = useQuery({ ...serviceHealthQuery(id ?? ''), enabled: allowed && needed });
  return new Map([
    ...(data?.upstreams ?? []).map(({ id, url }) => [id, url] as const),
    ...(upstream === null ? [] : [[upstream.id, upstream.url] as const]),
  ]);
}
