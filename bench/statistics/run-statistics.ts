import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import type pg from 'pg';
import { untilInterrupted } from '../lab/interruption.ts';
import { withClient } from '../lab/with-client.ts';
import { usageOf } from '../measure/process-tree.ts';
import { percentile } from '../measure/statistics.ts';
import { daysBefore } from '../records/load-records.ts';
import { loadDay, loadSeries } from './load-statistics.ts';

/** What `npm run bench -- statistics` is given. */
export interface StatisticsOptions {
  /** The records that the statistics are the sums of. */
  readonly rows: number;
  readonly days: number;
  readonly routes: number;
}

const HOUR_MS = 60 * 60 * 1000;
const MINUTES_PER_DAY = 24 * 60;
const TIMES = 20;
/** All data is thrown away at the end, so durability is off. Reads do not depend on it. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** Measures how long `GET /v1/stats` takes over the real control plane with the statistics of many records. */
export function runStatistics(options: StatisticsOptions): Promise<void> {
  return untilInterrupted((signal) => runUntil(signal, options));
}

async function runUntil(signal: AbortSignal, options: StatisticsOptions): Promise<void> {
  const stack = await createPlaneStack({ ownPostgres: true, postgresSettings: SETTINGS });
  try {
    const controlPlane = await stack.startControlPlane({
      env: { MANAGEMENT_RATE_LIMIT: '1000000' },
      signal,
    });
    const pids = [controlPlane.pid, stack.postgres?.pid ?? Number.NaN];
    const api = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    await withClient(stack.databaseUrl, signal, async (client) => {
      const starts = await load(client, options);
      await time(api, pids, starts, signal);
    });
  } finally {
    await stack.close();
  }
}

/** CPU time of these processes and their children. Unlike the duration, it does not depend on what else runs. */
function cpuUsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + usageOf(pid).cpuUs, 0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function load(client: pg.Client, options: StatisticsOptions): Promise<readonly number[]> {
  const { rows, days, routes } = options;
  const series = await loadSeries(client, routes, rows / days / MINUTES_PER_DAY);
  const starts = daysBefore(Date.now(), days);
  let records = 0;
  for (const day of starts) records += await loadDay(client, day);
  await client.query('VACUUM (ANALYZE) request_statistics');
  const { rows: sizes } = await client.query<{ resolution: number; rows: string }>(
    'SELECT resolution, count(*) AS rows FROM request_statistics GROUP BY 1 ORDER BY 1',
  );
  print(`sums of ${records} records over ${days} days, ${series} series`);
  for (const { resolution, rows: count } of sizes) print(`  ${count} rows of ${resolution} s`);
  const { rows: size } = await client.query<{ bytes: string }>(`
    SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits
    WHERE inhparent = 'request_statistics'::regclass`);
  print(`  ${(Number(size[0]?.bytes) / 2 ** 20).toFixed(0)} MiB with indexes`);
  return starts;
}

async function time(
  api: ManagementClient,
  pids: readonly number[],
  starts: readonly number[],
  signal: AbortSignal,
): Promise<void> {
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
  for (const [name, { from, to }, filters] of cases) {
    const query = new URLSearchParams({
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      ...filters,
    });
    const tookMs: number[] = [];
    const beforeUs = cpuUsOf(pids);
    let requests = 0;
    for (let run = 0; run < TIMES; run += 1) {
      signal.throwIfAborted();
      const startedMs = performance.now();
      const answer = await api.get(`/v1/stats?${query.toString()}`);
      const body = answer as { data: { total: { requests: number } } };
      tookMs.push(performance.now() - startedMs);
      requests = body.data.total.requests;
    }
    const shown = [50, 95].map(
      (part) => `p${part} ${percentile(tookMs, part / 100).toFixed(0)} ms`,
    );
    const cpuMs = ((cpuUsOf(pids) - beforeUs) / TIMES / 1000).toFixed(0);
    print(`${name}: ${shown.join(', ')}, CPU ${cpuMs} ms (${requests} requests)`);
  }
}
