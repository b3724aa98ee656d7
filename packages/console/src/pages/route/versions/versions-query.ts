import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Route, type Statistics } from '../../../api/client.ts';

const MINUTE_MS = 60_000;

/** The periods in which versions are compared, minutes. */
export const COMPARED_MINUTES = [5, 15, 60] as const;

export type ComparedMinutes = (typeof COMPARED_MINUTES)[number];

/** The requests of a route by version in a period that ends now; with their course of each minute, if it is asked for. */
export function versionTrafficQuery(
  { environment, name }: Pick<Route, 'environment' | 'name'>,
  minutes: ComparedMinutes,
  hasSteps: boolean,
) {
  return queryOptions({
    queryKey: ['route-versions', environment, name, minutes, hasSteps],
    queryFn: async ({ signal }): Promise<Statistics> => {
      const query = {
        environment,
        route: name,
        from: new Date(serverClock.nowMs() - minutes * MINUTE_MS).toISOString(),
        by: 'version' as const,
        ...(hasSteps ? { step: '1m' as const } : {}),
      };
      return (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 5000,
  });
}
