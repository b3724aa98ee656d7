import { QueryCache, QueryClient } from '@tanstack/react-query';
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
      // The client itself waits and repeats after 429 and 503.
      queries: { retry: false, staleTime: 5000 },
      mutations: { retry: false },
    },
  });
  return queryClient;
}
