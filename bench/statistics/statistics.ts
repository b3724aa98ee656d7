import type pg from 'pg';
import { command, whole } from '../command.ts';
import { startStack } from '../lab/stack.ts';
import { withClient } from '../lab/with-client.ts';
import { usageOf } from '../measure/process-tree.ts';
import { percentile } from '../measure/statistics.ts';
import { daysBefore } from '../records/load-records.ts';
import { loadDay, loadSeries } from './load-statistics.ts';

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const MINUTES_PER_DAY = 24 * 60;

interface Answer {
  readonly data: { readonly total: { readonly requests: number } };
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Measures how long `GET /v1/stats` takes over the real control plane with the statistics of many records. */
export const statistics = command({
  name: 'statistics',
  summary: 'duration of GET /v1/stats with the statistics of many records',
  options: {
    rows: whole(50_000_000, [1000, 1e9], 'records that the statistics are the sums of'),
    days: whole(29, [1, 29], 'days that the records are spread over'),
    routes: whole(20, [1, 1000], 'routes, each with two versions'),
    times: whole(20, [1, 100], 'how often each query is made'),
  },
  async run(run, { rows, days, routes, times }) {
    const { stack, controlPlane, client: api } = await startStack(run, { postgres: 'thrown away' });
    const pids = [controlPlane.pid, stack.postgres?.pid ?? Number.NaN];
    await withClient(stack.databaseUrl, run, async (client) => {
      const starts = daysBefore(Date.now(), days);
      const series = await loadSeries(client, routes, rows / days / MINUTES_PER_DAY);
      let records = 0;
      for (const day of starts) records += await loadDay(client, day);
      print(`sums of ${records} records over ${days} days, ${series} series`);
      await printSizes(client);
      for (const [name, query] of queriesOf(starts)) {
        run.signal.throwIfAborted();
        const tookMs: number[] = [];
        const beforeUs = usageOf(...pids).cpuUs;
        let requests = 0;
        while (tookMs.length < times) {
          const startedMs = performance.now();
          const { data } = (await api.get(`/v1/stats?${query}`)) as Answer;
          tookMs.push(performance.now() - startedMs);
          ({ requests } = data.total);
        }
        const at = (rank: number) => percentile(tookMs, rank).toFixed(0);
        // Unlike the duration, the CPU time does not depend on what else runs.
        const cpuMs = ((usageOf(...pids).cpuUs - beforeUs) / times / 1000).toFixed(0);
        print(
          `${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, CPU ${cpuMs} ms (${requests} requests)`,
        );
      }
    });
  },
});

async function printSizes(client: pg.Client): Promise<void> {
  await client.query('VACUUM (ANALYZE) request_statistics');
  const { rows } = await client.query<{ resolution: number; rows: string }>(
    'SELECT resolution, count(*) AS rows FROM request_statistics GROUP BY 1 ORDER BY 1',
  );
  for (const { resolution, rows: count } of rows) print(`  ${count} rows of ${resolution} s`);
  const { rows: size } = await client.query<{ bytes: string }>(`
    SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits
    WHERE inhparent = 'request_statistics'::regclass`);
  print(`  ${(Number(size[0]?.bytes) / 2 ** 20).toFixed(0)} MiB with indexes`);
}

/** Spans of time, and what else each query asks for. */
function queriesOf(starts: readonly number[]): [name: string, query: string][] {
  const [from = 0] = starts;
  const to = (starts.at(-1) ?? 0) + 24 * HOUR_MS;
  const middle = from + Math.floor((to - from) / 2 / HOUR_MS) * HOUR_MS;
  const last = (hours: number) => [middle, middle + hours * HOUR_MS] as const;
  const spans = {
    'all days': [from, to],
    // Begins and ends within an hour, so that all resolutions are read.
    'all days less some minutes': [from + 37 * MINUTE_MS, to - 23 * MINUTE_MS],
    '5 days': last(120),
    '30 hours': last(30),
    '2 hours': last(2),
  } as const;
  const cases: [span: keyof typeof spans, further: string][] = [
    ['all days', ''],
    ['all days less some minutes', ''],
    ['all days less some minutes', 'step=1d'],
    ['all days less some minutes', 'step=6h'],
    ['all days', 'step=6h&route=route-3'],
    ['all days', 'step=6h&status_class=5xx'],
    ['5 days', 'step=1h'],
    ['5 days', 'step=1h&route=route-3'],
    ['30 hours', 'step=15m'],
    ['2 hours', 'step=1m'],
  ];
  return cases.map(([span, further]) => {
    const [fromAt, toAt] = spans[span].map((ms) => new Date(ms).toISOString());
    return [`${span} ${further}`.trim(), `from=${fromAt}&to=${toAt}&${further}`];
  });
}
