import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import type { AuditSearch } from './audit-search.ts';

/** A page of the changes that concern an environment, newest first. */
export function auditQuery(environment: string, search: AuditSearch) {
  const { type, resource, token, cursor } = search;
  return queryOptions({
    queryKey: ['audit-events', environment, type, resource, token, cursor],
    queryFn: async ({ signal }) => {
      const query = {
        environment,
        ...(type !== undefined && { resource_type: type }),
        ...(resource !== undefined && { resource_id: resource }),
        ...(token !== undefined && { token_id: token }),
        ...(cursor !== undefined && { cursor }),
      };
      return (await gateway.get('/v1/audit-events', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}
