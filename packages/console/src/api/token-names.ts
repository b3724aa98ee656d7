import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from './client.ts';
import { useScope } from './rights.ts';

/** More would take too long, only to have names beside ids. */
const MAX_TOKENS = 2000;

/** The names of the tokens by id. */
export const tokenNamesQuery = queryOptions({
  // Begins as the list of tokens does, so that a change of one refreshes it.
  queryKey: ['tokens', 'names'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const names = new Map<string, string>();
    const params = { query: { limit: 200 } };
    for await (const { id, name } of gateway.list('/v1/tokens', { params, signal })) {
      names.set(id, name);
      if (names.size >= MAX_TOKENS) break;
    }
    return names;
  },
  staleTime: 30_000,
});

/** Names a token. One that was revoked, or that the session may not see, has its id. */
export function useTokenName(): (id: string) => string {
  const { allowed } = useScope('tokens:read');
  const { data } = useQuery({ ...tokenNamesQuery, enabled: allowed });
  return (id) => data?.get(id) ?? id;
}
