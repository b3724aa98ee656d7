import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway } from './client.ts';

const SHOWN = 50;
/** Of a search, characters; longer than any name. */
export const MAX_TOKEN_SEARCH = 63;

/** The first tokens in this order whose name has the text, for people who choose one. */
export function foundTokensQuery(order: 'name' | '-last_used_at', search: string) {
  return queryOptions({
    // Begins as the list of tokens does, so that a change of one refreshes it.
    queryKey: ['tokens', 'found', order, search],
    queryFn: async ({ signal }) => {
      const query = { order, search, limit: SHOWN };
      const { data } = (await gateway.get('/v1/tokens', { params: { query }, signal })).body;
      return data.map(({ id, name }) => ({ value: id, label: name }));
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}
