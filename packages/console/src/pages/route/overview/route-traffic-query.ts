import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Route } from '../../../api/client.ts';
import { PERIODS, type PeriodName } from '../../overview/periods.ts';
import { trafficOf, type Traffic } from '../../overview/traffic.ts';

/** The traffic of a route, or of one of its versions, by class of status, in the steps of a period. */
export function routePeriodQuery(
  { environment, name }: Pick<Route, 'environment' | 'name'>,
  period: PeriodName,
  version: string | undefined,
) {
  const { seconds, step, stepSeconds, everyMs } = PERIODS[period];
  return queryOptions({
    queryKey: ['route-period', environment, name, period, version],
    queryFn: async ({ signal }): Promise<Traffic> => {
      const nowMs = serverClock.nowMs();
      const query = {
        environment,
        route: name,
        from: new Date(nowMs - seconds * 1000).toISOString(),
        step,
        by: 'status_class' as const,
        ...(version === undefined ? {} : { version }),
      };
      const { data } = (await gateway.get('/v1/stats', { params: { query }, signal })).body;
      return trafficOf(data, undefined, stepSeconds, nowMs);
    },
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
}
