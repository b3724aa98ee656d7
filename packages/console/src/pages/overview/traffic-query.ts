import { queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type Statistics } from '../../api/client.ts';
import { withReading, type LiveTraffic } from './live-traffic.ts';
import { PERIODS, type PeriodName } from './periods.ts';
import { trafficOf, type Traffic } from './traffic.ts';

const LIVE_MS = 2000;
const MINUTE_MS = 60_000;

/** The traffic of an environment in a period; undefined: what happens now. */
export function trafficQuery(environment: string, period: PeriodName | undefined) {
  const queryKey = ['traffic', environment, period ?? 'live'] as const;
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }): Promise<Traffic> => {
      if (period !== undefined) return readPeriod(environment, period, signal);
      return readLive(environment, client.getQueryData<LiveTraffic>(queryKey), signal);
    },
    refetchInterval: period === undefined ? LIVE_MS : PERIODS[period].everyMs,
    staleTime: period === undefined ? 0 : PERIODS[period].everyMs,
  });
}

async function readPeriod(
  environment: string,
  name: PeriodName,
  signal: AbortSignal,
): Promise<Traffic> {
  const { seconds, step, stepSeconds } = PERIODS[name];
  const nowMs = serverClock.nowMs();
  const from = new Date(nowMs - seconds * 1000).toISOString();
  const statistics = await readStatistics({ environment, from, step }, signal);
  return trafficOf(statistics, stepSeconds, nowMs);
}

async function readLive(
  environment: string,
  before: LiveTraffic | undefined,
  signal: AbortSignal,
): Promise<LiveTraffic> {
  const from = new Date(serverClock.nowMs() - MINUTE_MS).toISOString();
  const statistics = await readStatistics({ environment, from, step: '1m' }, signal);
  return withReading(before, { atMs: serverClock.nowMs(), statistics });
}

interface Asked {
  readonly environment: string;
  readonly from: string;
  readonly step: '1m' | '15m' | '6h';
}

async function readStatistics(query: Asked, signal: AbortSignal): Promise<Statistics> {
  return (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
}
