import { formatRows } from '../report/table.ts';
import type { Queried } from './time-lookups.ts';
import { RARE } from './load-records.ts';

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
