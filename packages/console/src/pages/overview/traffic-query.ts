import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { gateway, serverClock, type Statistics } from '../../api/client.ts';
import { withReading, type LiveTraffic, type Reading } from './live-traffic.ts';
import { hasPeriodBefore, LIVE_SECONDS, PERIODS, type PeriodName } from './periods.ts';
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
      return readLive(client, environment, client.getQueryData<LiveTraffic>(queryKey), signal);
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
  const from = timeOf(nowMs - seconds * 1000);
  const [statistics, before] = await Promise.all([
    readStatistics({ environment, from, step }, signal),
    hasPeriodBefore(name)
      ? readStatistics({ environment, from: timeOf(nowMs - 2 * seconds * 1000), to: from }, signal)
      : undefined,
  ]);
  return trafficOf(statistics, before, stepSeconds, nowMs);
}

async function readLive(
  client: QueryClient,
  environment: string,
  before: LiveTraffic | undefined,
  signal: AbortSignal,
): Promise<LiveTraffic> {
  const [history, statistics] = await Promise.all([
    client.query(historyQuery(environment)),
    readStatistics(
      { environment, from: timeOf(serverClock.nowMs() - MINUTE_MS), step: '1m' },
      signal,
    ),
  ]);
  return withReading(before, { atMs: serverClock.nowMs(), statistics }, history);
}

/** The minutes before those that are read every two seconds. They change only by records that come late. */
function historyQuery(environment: string) {
  return queryOptions({
    queryKey: ['traffic', environment, 'live', 'history'],
    queryFn: async ({ signal }): Promise<Reading> => {
      const from = timeOf(serverClock.nowMs() - LIVE_SECONDS * 1000);
      const statistics = await readStatistics({ environment, from, step: '1m' }, signal);
      return { atMs: serverClock.nowMs(), statistics };
    },
    staleTime: MINUTE_MS / 2,
  });
}

interface Asked {
  readonly environment: string;
  readonly from: string;
  readonly to?: string;
  readonly step?: '1m' | '15m' | '6h';
}

async function readStatistics(asked: Asked, signal: AbortSignal): Promise<Statistics> {
  const query = { ...asked, by: 'status' as const };
  return (await gateway.get('/v1/stats', { params: { query }, signal })).body.data;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
