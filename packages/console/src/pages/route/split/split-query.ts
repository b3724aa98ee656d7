import { queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Route } from '../../../api/client.ts';

const PERIOD_MS = 5 * 60_000;

/** How many requests each version had in the last five minutes. */
export function splitQuery(
  { environment, name }: Pick<Route, 'environment' | 'name'>,
  versions: readonly string[],
) {
  return queryOptions({
    queryKey: ['route-split', environment, name, versions],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const from = new Date(serverClock.nowMs() - PERIOD_MS).toISOString();
      const count = async (version: string): Promise<[string, number]> => {
        const query = { environment, route: name, version, from };
        const { body } = await gateway.get('/v1/stats', { params: { query }, signal });
        return [version, body.data.total.requests];
      };
      return new Map(await Promise.all(versions.map(count)));
    },
    refetchInterval: 5000,
  });
}
