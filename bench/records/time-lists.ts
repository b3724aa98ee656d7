import type { ManagementClient } from '@gateway/local-stack/stack/management-client';
import type { Queried } from './time-lookups.ts';

interface Rare {
  readonly environment: string;
  readonly route: string;
  readonly status: number;
}

interface Answer {
  readonly tookMs: number;
  /** Undefined if the call failed. */
  readonly rows: number | undefined;
}

const TIMES = 3;

async function list(api: ManagementClient, query: string): Promise<Answer> {
  const startedMs = performance.now();
  const page = await api
    .get(`/v1/requests?${query}`)
    .then((body) => body as { data: unknown[] })
    .catch(() => undefined);
  return { tookMs: performance.now() - startedMs, rows: page?.data.length };
}

/** The cursor that the API returns after this record. */
function cursorAfter(id: string): string {
  return Buffer.from(JSON.stringify(['requests', id])).toString('base64url');
}

/** Prints how long each list takes, on its first page and on one `deepDays` back: the first call and the best of three. */
export async function timeLists(
  { client, api, signal, print }: Queried,
  rare: Rare,
  deepDays: number,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM request_records
     WHERE received_at < now() - $1 * interval '1 day' ORDER BY received_at DESC LIMIT 1`,
    [deepDays],
  );
  const deep = `cursor=${cursorAfter(rows[0]?.id ?? '')}`;
  const lists = [
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
    `environment=${rare.environment}`,
    `route=${rare.route}`,
    `environment=production&route=${rare.route}`,
    `status=${rare.status}`,
    'status=451',
    'outcome=client_aborted',
    `environment=development&status=${rare.status}`,
    'environment=development&route=orders-7&status=451',
    'status=200&outcome=timeout',
    'environment=development&status=200&outcome=timeout',
  ];
  print('| list | rows | first ms | best ms | rows, deep page | first ms | best ms |');
  print('| --- | --: | --: | --: | --: | --: | --: |');
  for (const filters of lists) {
    const cells = [filters === '' ? 'all' : filters.replaceAll('&', ', ')];
    for (const page of ['', deep]) {
      const answers: Answer[] = [];
      for (let time = 0; time < TIMES; time += 1) {
        signal.throwIfAborted();
        answers.push(await list(api, `limit=50&${filters}&${page}`.replace(/&+$/, '')));
      }
      const [first] = answers;
      const best = Math.min(...answers.map(({ tookMs }) => tookMs));
      cells.push(String(first?.rows ?? 'failed'), (first?.tookMs ?? 0).toFixed(1), best.toFixed(1));
    }
    print(`| ${cells.join(' | ')} |`);
  }
}
