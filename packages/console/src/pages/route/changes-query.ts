import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type AuditEvent, type Route } from '../../api/client.ts';

/** As many as a chart can show, and as a page of the history has. */
const MAX_CHANGES = 50;

/** The changes of a route, newest first. */
export function routeChangesQuery({ id, environment }: Pick<Route, 'id' | 'environment'>) {
  return infiniteQueryOptions({
    // Begins as other lists of changes do, so that a revert refreshes it.
    queryKey: ['audit-events', environment, 'route', id],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        resource_type: 'route' as const,
        resource_id: id,
        limit: MAX_CHANGES,
        ...(pageParam !== '' && { cursor: pageParam }),
      };
      return (await gateway.get('/v1/audit-events', { params: { query }, signal })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 15_000,
  });
}

/** The newest changes of a route in a period that ends now, oldest first, at most 50. */
export function recentChangesQuery(
  { id, environment }: Pick<Route, 'id' | 'environment'>,
  seconds: number,
) {
  return queryOptions({
    queryKey: ['audit-events', environment, 'route', id, seconds],
    queryFn: async ({ signal }): Promise<readonly AuditEvent[]> => {
      const query = {
        resource_type: 'route' as const,
        resource_id: id,
        limit: MAX_CHANGES,
        since: new Date(serverClock.nowMs() - seconds * 1000).toISOString(),
      };
      const { data } = (await gateway.get('/v1/audit-events', { params: { query }, signal })).body;
      return data.toReversed();
    },
    refetchInterval: 15_000,
  });
}
