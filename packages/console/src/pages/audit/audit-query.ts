import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type AuditEvent } from '../../api/client.ts';
import { AUDIT_PERIODS, type AuditSearch } from './audit-search.ts';

/** The query of the API for the changes that concern an environment and match the filters. */
function queryOf(environment: string, search: AuditSearch) {
  const { type, resource, token, period } = search;
  return {
    environment,
    ...(type !== undefined && { resource_type: type }),
    ...(resource !== undefined && { resource_id: resource }),
    ...(token !== undefined && { token_id: token }),
    ...(period !== undefined && {
      since: new Date(serverClock.nowMs() - AUDIT_PERIODS[period].seconds * 1000).toISOString(),
    }),
  };
}

/** A page of the changes that concern an environment, newest first. */
export function auditQuery(environment: string, search: AuditSearch) {
  const { cursor } = search;
  return queryOptions({
    queryKey: ['audit-events', environment, search],
    queryFn: async ({ signal }) => {
      const query = {
        ...queryOf(environment, search),
        ...(cursor !== undefined && { cursor }),
      };
      return (await gateway.get('/v1/audit-events', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

const PAGE_ROWS = 200;

/** All changes that match the filters, newest first, and whether there are more. @throws ApiError, ConnectionError */
export async function readAllEvents(
  environment: string,
  search: AuditSearch,
  most: number,
): Promise<{ readonly events: readonly AuditEvent[]; readonly isCut: boolean }> {
  const params = { query: { ...queryOf(environment, search), limit: PAGE_ROWS } };
  const events: AuditEvent[] = [];
  for await (const event of gateway.list('/v1/audit-events', { params })) {
    if (events.length === most) return { events, isCut: true };
    events.push(event);
  }
  return { events, isCut: false };
}
