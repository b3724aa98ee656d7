import { setTimeout as delay } from 'node:timers/promises';
import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import type pg from 'pg';
import { percentile } from '../measure/statistics.ts';
import { formatRows } from '../report/table.ts';
import { RARE } from './load-records.ts';

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

const TIMES = 3;

const LISTS = [
  '',
  'environment=production',
  'environment=development',
  'route=orders-7',
  'environment=development&route=orders-7',
  'status=200',
  'status=503',
  'outcome=success',
  'outcome=timeout',
  'route=orders-7&status=503',
  `environment=${RARE.environment}`,
  `route=${RARE.route}`,
  `environment=production&route=${RARE.route}`,
  `status=${RARE.status}`,
  'status=451',
  'outcome=client_aborted',
  `environment=development&status=${RARE.status}`,
  'environment=development&route=orders-7&status=451',
  'status=200&outcome=timeout',
  'environment=development&status=200&outcome=timeout',
];

/** How long a list takes: the first call, and the best of three. */
interface Timed {
  readonly rows: string;
  readonly firstMs: number;
  readonly bestMs: number;
}

/** Prints how long each list takes, on its first page and on one `deepDays` back. */
export async function timeLists(queried: Queried, deepDays: number): Promise<void> {
  const { rows } = await queried.client.query<{ id: string }>(
    `SELECT id FROM request_records
     WHERE received_at < now() - $1 * interval '1 day' ORDER BY received_at DESC LIMIT 1`,
    [deepDays],
  );
  // As the API returns it after this record.
  const cursor = Buffer.from(JSON.stringify(['requests', rows[0]?.id ?? ''])).toString('base64url');
  const timed: { readonly name: string; readonly page: Timed; readonly deep: Timed }[] = [];
  for (const filters of LISTS) {
    const page = await time(queried, filters);
    const deep = await time(queried, `${filters}&cursor=${cursor}`);
    timed.push({ name: filters === '' ? 'all' : filters.replaceAll('&', ', '), page, deep });
  }
  queried.print(
    formatRows(timed, {
      list: ({ name }) => name,
      rows: ({ page }) => page.rows,
      'first ms': ({ page }) => page.firstMs.toFixed(1),
      'best ms': ({ page }) => page.bestMs.toFixed(1),
      'rows, deep page': ({ deep }) => deep.rows,
      'first ms, deep': ({ deep }) => deep.firstMs.toFixed(1),
      'best ms, deep': ({ deep }) => deep.bestMs.toFixed(1),
    }),
  );
}

async function time({ api, signal }: Queried, filters: string): Promise<Timed> {
  const tookMs: number[] = [];
  let rows = 'failed';
  for (let turn = 0; turn < TIMES; turn += 1) {
    signal.throwIfAborted();
    const startedMs = performance.now();
    const page = api.get(`/v1/requests?limit=50&${filters}`.replace(/&+$/, '').replace('&&', '&'));
    rows = await page.then(
      (body) => String((body as { data: unknown[] }).data.length),
      () => 'failed',
    );
    tookMs.push(performance.now() - startedMs);
  }
  return { rows, firstMs: tookMs[0] ?? NaN, bestMs: Math.min(...tookMs) };
}
