import { queryOptions } from '@tanstack/react-query';
import { gateway } from './client.ts';

/** The route that has this name now; null: there is none. A record has the name only. */
export function namedRouteQuery(environment: string, name: string) {
  return queryOptions({
    // Begins as the lists of routes do, so that a change of one refreshes it.
    queryKey: ['routes', environment, 'named', name],
    queryFn: async ({ signal }) => {
      const query = { environment, name };
      const { body } = await gateway.get('/v1/routes', { params: { query }, signal });
      return body.data[0] ?? null;
    },
    staleTime: 30_000,
  });
}
