import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import pg from 'pg';
import { daysBefore, loadDay, loadVariants, RARE } from './load-records.ts';
import { timeLists, timeLookups } from './time-queries.ts';

/** What `npm run bench -- records` is given. */
export interface RecordsOptions {
  /** How many records are created. */
  readonly rows: number;
  readonly days: number;
  /** Keeps everything running until Ctrl-C or an hour has passed. */
  readonly hold: boolean;
}

const MAX_MS = 60 * 60 * 1000;
const LOOKUPS = 300;
const LOADERS = 2;

/** All data is thrown away at the end, so durability is off. Reads do not depend on it. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  maintenance_work_mem: '512MB',
  max_wal_size: '4GB',
};

/**
 * Measures how long record queries take over the real control plane when Postgres holds many records. Ends after an
 * hour at the latest and removes its Postgres and NATS.
 */
export async function runRecords(options: RecordsOptions): Promise<void> {
  const stack = await createPlaneStack({ ownPostgres: true, postgresSettings: SETTINGS });
  const done = new AbortController();
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const timeout = delay(MAX_MS, undefined, { signal: done.signal }).catch(() => undefined);
  try {
    await Promise.race([measure(stack, options), interrupted, timeout]);
  } finally {
    done.abort();
    await stack.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function load(url: string, { rows, days }: RecordsOptions): Promise<void> {
  const startedMs = performance.now();
  const perDay = Math.floor(rows / days);
  await withClient(url, loadVariants);
  const starts = daysBefore(Date.now(), days);
  const left = [...starts];
  let loaded = 0;
  const loader = async (client: pg.Client): Promise<void> => {
    for (let day = left.shift(); day !== undefined; day = left.shift()) {
      await loadDay(client, day, perDay, day === starts[0]);
      loaded += perDay;
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
      print(`${loaded} records after ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: LOADERS }, () => withClient(url, loader)));
}

async function printSize(client: pg.Client, days: number): Promise<void> {
  const { rows } = await client.query<{ rows: string; heap: string; indexes: string }>(`
    SELECT count(*) AS rows,
      (SELECT sum(pg_table_size(inhrelid)) FROM pg_inherits
        WHERE inhparent = 'request_records'::regclass) AS heap,
      (SELECT sum(pg_indexes_size(inhrelid)) FROM pg_inherits
        WHERE inhparent = 'request_records'::regclass) AS indexes
    FROM request_records`);
  const [size = { rows: '0', heap: '0', indexes: '0' }] = rows;
  const per = (bytes: string) => (Number(bytes) / Number(size.rows)).toFixed(0);
  print(
    `${size.rows} records in ${days} partitions; bytes/record: ${per(size.heap)} in tables, ${per(size.indexes)} in indexes`,
  );
}

async function measure(stack: PlaneStack, options: RecordsOptions): Promise<void> {
  const controlPlane = await stack.startControlPlane({ env: { MANAGEMENT_RATE_LIMIT: '1000000' } });
  await load(stack.databaseUrl, options);
  await withClient(stack.databaseUrl, async (client) => {
    await printSize(client, options.days);
    const api = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    await timeLookups(client, api, LOOKUPS, print);
    await timeLists(client, api, RARE, Math.floor((options.days * 2) / 3), print);
    if (options.hold) {
      print(
        `database: ${stack.databaseUrl}; API: ${controlPlane.baseUrl}; token: ${stack.adminToken}`,
      );
      await delay(MAX_MS);
    }
  });
}
