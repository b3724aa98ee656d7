import { QueryCache, QueryClient } from '@tanstack/react-query';
import { reachability } from './client.ts';
import { isAway, RETRY_READS } from './retry-reads.ts';
import { callerQuery, isRefused } from './session.ts';

/** The cache of what the pages read. */
export function createQueryClient(): QueryClient {
  const queryClient = new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        // A refused call asks whether the session is still there. The shell watches the answer.
        if (!isRefused(error) || query.queryKey[0] === callerQuery.queryKey[0]) return;
        void queryClient.invalidateQueries({ queryKey: callerQuery.queryKey });
      },
    }),
    defaultOptions: {
      queries: { ...RETRY_READS, staleTime: 5000 },
      // The client itself waits and repeats after 429 and 503. What may have been done is not repeated.
      mutations: { retry: false },
    },
  });
  reachability.subscribe(() => {
    if (reachability.isAway()) return;
    void queryClient.refetchQueries({ predicate: ({ state }) => isAway(state.error) });
  });
  return queryClient;
}
