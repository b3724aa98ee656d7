import { startStack } from '../lab/stack.ts';
import { withClient } from '../lab/with-client.ts';
import { percentile } from '../measure/statistics.ts';
import { daysBefore, loadDay, loadVariants, randomIds } from '../records/load-records.ts';
import { lookUp } from '../records/time-queries.ts';
import { log } from '../lab/log.ts';
import type { Curve } from './curve.ts';

const ROWS = [10_000, 100_000, 300_000, 1_000_000];
const DAYS = 29;
const LOOKUPS = 300;

/**
 * How long the lookup of a record takes over the number of stored records, which are spread over daily partitions: ids
 * from all of the table, one after the other, after as many that are not counted.
 */
export const recordLookups: Curve = {
  name: 'records',
  title: 'Lookup of a record over stored records',
  x: 'stored records',
  y: 'GET /v1/requests/{id}, ms',
  async measure(run, lookups = LOOKUPS) {
    const { stack, client: api } = await startStack(run, { postgres: 'thrown away' });
    return withClient(stack.databaseUrl, run, async (client) => {
      await loadVariants(client, 'compact');
      const days = daysBefore(Date.now(), DAYS);
      const points: { readonly x: number; readonly tookMs: readonly number[] }[] = [];
      for (const x of ROWS) {
        log(`storing ${x} records`);
        const perDay = Math.round(x / DAYS);
        for (const dayMs of days) await loadDay(client, dayMs, perDay, false);
        await lookUp(api, randomIds(days, perDay, lookups), run.signal);
        points.push({ x, tookMs: await lookUp(api, randomIds(days, perDay, lookups), run.signal) });
      }
      const series = (name: string, rank: number) => {
        return {
          name,
          points: points.map(({ x, tookMs }) => ({ x, y: percentile(tookMs, rank) })),
        };
      };
      return [series('median', 0.5), series('p99', 0.99)];
    });
  },
};
