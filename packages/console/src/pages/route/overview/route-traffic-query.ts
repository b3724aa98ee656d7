import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Route, type Statistics } from '../../../api/client.ts';
import { PERIODS, type PeriodName } from '../../overview/periods.ts';

/** The traffic of a route, or of one of its versions, by class of status, in the steps of a period. */
export function routePeriodQuery(
  { environment, name }: Pick<Route, 'environment' | 'name'>,
  period: PeriodName,
  version: string | undefined,
) {
  const { seconds, step, everyMs } = PERIODS[period];
  return queryOptions({
    queryKey: ['route-period', environment, name, period, version],
    queryFn: async ({ signal }): Promise<Statistics> => {
      const query = {
        environment,
        route: name,
        from: new Date(serverClock.nowMs() - seconds * 1000).toISOString(),
        step,
        by: 'status_class' as const,
        ...(version === undefined ? {} : { version }),
      };
      return (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
    },
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
}
