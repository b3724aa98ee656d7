import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import type pg from 'pg';
import { command, whole } from '../command.ts';
import { startStack } from '../lab/stack.ts';
import { withClient } from '../lab/with-client.ts';
import { usageOf } from '../measure/process-tree.ts';
import { percentile } from '../measure/statistics.ts';
import { daysBefore } from '../records/load-records.ts';
import { loadDay, loadSeries } from './load-statistics.ts';

const HOUR_MS = 60 * 60 * 1000;
const MINUTES_PER_DAY = 24 * 60;

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
    const started = await startStack(run, { postgres: 'thrown away' });
    const { stack, controlPlane, client: api } = started;
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
        for (let time = 0; time < times; time += 1) {
          const { ms, count } = await timeQuery(api, query);
          tookMs.push(ms);
          requests = count;
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

async function timeQuery(api: ManagementClient, query: string) {
  const startedMs = performance.now();
  const { data } = (await api.get(`/v1/stats?${query}`)) as {
    data: { total: { requests: number } };
  };
  return { ms: performance.now() - startedMs, count: data.total.requests };
}

function queriesOf(starts: readonly number[]): [name: string, query: string][] {
  const firstMs = starts[0] ?? 0;
  const endMs = (starts.at(-1) ?? 0) + 24 * HOUR_MS;
  const middle = firstMs + Math.floor((endMs - firstMs) / 2 / HOUR_MS) * HOUR_MS;
  const whole = { from: firstMs, to: endMs };
  /** Begins and ends within an hour, so that all resolutions are read. */
  const uneven = { from: firstMs + 37 * 60_000, to: endMs - 23 * 60_000 };
  const last = (hours: number) => ({ from: middle, to: middle + hours * HOUR_MS });
  const cases: [string, { from: number; to: number }, Record<string, string>][] = [
    ['all days, no step', whole, {}],
    ['all days less some minutes, no step', uneven, {}],
    ['all days less some minutes, steps of 1d', uneven, { step: '1d' }],
    ['all days less some minutes, steps of 6h', uneven, { step: '6h' }],
    ['all days, steps of 6h, one route', whole, { step: '6h', route: 'route-3' }],
    ['all days, steps of 6h, status 5xx', whole, { step: '6h', status_class: '5xx' }],
    ['5 days, steps of 1h', last(120), { step: '1h' }],
    ['5 days, steps of 1h, one route', last(120), { step: '1h', route: 'route-3' }],
    ['30 hours, steps of 15m', last(30), { step: '15m' }],
    ['2 hours, steps of 1m', last(2), { step: '1m' }],
  ];
  const iso = (ms: number) => new Date(ms).toISOString();
  return cases.map(([name, { from, to }, filters]) => {
    const query = new URLSearchParams({ from: iso(from), to: iso(to), ...filters });
    return [name, query.toString()];
  });
}
