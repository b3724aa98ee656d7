import { setTimeout as delay } from 'node:timers/promises';
import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import type pg from 'pg';
import { percentile } from '../measure/statistics.ts';

/** What queries are measured on, and where their times are printed. */
export interface Queried {
  readonly client: pg.Client;
  readonly api: ManagementClient;
  /** When it is aborted, no further query is made. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** After this time without a call a connection has reported what it read, ms. */
const REPORTED_MS = 11_000;

/** The pages of all partitions that were not in the memory of Postgres; the page cache may have had them. */
async function pagesRead({ client, signal }: Queried) {
  await delay(REPORTED_MS, undefined, { signal });
  const { rows } = await client.query<{ heap: number; index: number }>(
    `SELECT sum(heap_blks_read)::float8 AS heap, sum(idx_blks_read)::float8 AS index
     FROM pg_statio_user_tables WHERE relname LIKE 'request_records_%'`,
  );
  return rows[0] ?? { heap: 0, index: 0 };
}

/** How long `GET /v1/requests/{id}` takes for each id, one after the other, ms. */
export async function lookUp(
  api: ManagementClient,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const tookMs: number[] = [];
  for (const id of ids) {
    signal.throwIfAborted();
    const startedMs = performance.now();
    await api.get(`/v1/requests/${id}`);
    tookMs.push(performance.now() - startedMs);
  }
  return tookMs;
}

/** Prints how long `GET /v1/requests/{id}` takes, each id requested once, and how many pages Postgres read for it. */
export async function timeLookups(queried: Queried, ids: readonly string[]): Promise<void> {
  const { api, signal, print } = queried;
  const before = await pagesRead(queried);
  const tookMs = await lookUp(api, ids, signal);
  const after = await pagesRead(queried);
  const at = (rank: number) => percentile(tookMs, rank).toFixed(1);
  const per = (kind: 'heap' | 'index') => ((after[kind] - before[kind]) / ids.length).toFixed(2);
  print(
    `${ids.length} lookups by id: median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms; ` +
      `pages read for each: ${per('heap')} of tables, ${per('index')} of indexes`,
  );
}
