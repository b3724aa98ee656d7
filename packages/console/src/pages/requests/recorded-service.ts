import { useQuery } from '@tanstack/react-query';
import type { RequestRecord } from '../../api/client.ts';
import { serviceQuery } from '../service/service-query.ts';
import { serviceHealthQuery } from '../services/services-query.ts';
import { useScope } from '../../api/rights.ts';

/** The service of a request as it is now; undefined if it is gone, or if the token may not read services. */
export function useRecordedService({ service_id: id }: Pick<RequestRecord, 'service_id'>) {
  const { allowed } = useScope('services:read');
  const { data } = useQuery({
    ...serviceQuery(id ?? ''),
    enabled: allowed && id !== null,
    staleTime: 30_000,
    refetchInterval: false,
  });
  return data?.service;
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
