import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import type pg from 'pg';
import { untilInterrupted } from '../lab/interruption.ts';
import { withClient } from '../lab/with-client.ts';
import { percentile } from '../measure/statistics.ts';
import { daysBefore, loadDay, loadVariants, randomIds } from '../records/load-records.ts';
import { THROWN_AWAY } from '../records/run-records.ts';
import { lookUp } from '../records/time-lookups.ts';
import { log } from '../report/log.ts';
import type { Series } from './chart/line-chart.ts';
import type { Curve } from './curve.ts';

const ROWS = [10_000, 100_000, 300_000, 1_000_000] as const;
const DAYS = 29;
const LOOKUPS = 300;

/** How long the lookup of a record takes over the number of stored records. */
export const records: Curve = {
  name: 'records',
  chart: {
    title: 'Lookup of a record over stored records',
    x: { label: 'stored records', scale: 'log' },
    y: { label: 'GET /v1/requests/{id}, ms', scale: 'linear' },
  },
  method:
    `One control plane and one Postgres, records spread over ${DAYS} daily partitions, filled anew for each point; ` +
    `${LOOKUPS} lookups of ids from all of the table, one after the other, after as many that are not counted.`,
  measure: () =>
    untilInterrupted(async (signal) => {
      const stack = await createPlaneStack({ ownPostgres: true, postgresSettings: THROWN_AWAY });
      try {
        const { baseUrl } = await stack.startControlPlane({
          env: { MANAGEMENT_RATE_LIMIT: '1000000' },
          signal,
        });
        const api = createManagementClient(baseUrl, stack.adminToken);
        const work = (client: pg.Client) => measure(client, api, signal);
        return await withClient(stack.databaseUrl, signal, work);
      } finally {
        await stack.close();
      }
    }),
};

async function measure(
  client: pg.Client,
  api: ManagementClient,
  signal: AbortSignal,
): Promise<readonly Series[]> {
  await loadVariants(client, 'compact');
  const days = daysBefore(Date.now(), DAYS);
  const points: { readonly x: number; readonly p50: number; readonly p99: number }[] = [];
  for (const x of ROWS) {
    log(`storing ${x} records`);
    const perDay = Math.round(x / DAYS);
    for (const dayMs of days) await loadDay(client, dayMs, perDay, false);
    await lookUp(api, randomIds(days, perDay, LOOKUPS), signal);
    const tookMs = await lookUp(api, randomIds(days, perDay, LOOKUPS), signal);
    points.push({ x, p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) });
  }
  return [
    { name: 'median', points: points.map(({ x, p50 }) => ({ x, y: p50 })) },
    { name: 'p99', points: points.map(({ x, p99 }) => ({ x, y: p99 })) },
  ];
}
