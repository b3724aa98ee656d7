import { queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type CallerStatistics } from '../../api/client.ts';
import { DEFAULT_ORDER, DEFAULT_PERIOD, PERIODS, type CallersSearch } from './callers-search.ts';

const SHOWN = 100;
const EVERY_MS = 10_000;

/** The callers of an environment. */
export function callersQuery(environment: string, search: CallersSearch) {
  const { period = DEFAULT_PERIOD, order = DEFAULT_ORDER, route } = search;
  return queryOptions({
    queryKey: ['traffic', environment, 'callers', period, order, route ?? null],
    queryFn: async ({ signal }): Promise<CallerStatistics> => {
      const from = new Date(serverClock.nowMs() - PERIODS[period].seconds * 1000).toISOString();
      const query = {
        environment,
        from,
        order,
        limit: SHOWN,
        ...(route !== undefined && { route }),
      };
      return (await gateway.get('/v1/stats/callers', { params: { query }, signal })).body.data;
    },
    refetchInterval: EVERY_MS,
  });
}
