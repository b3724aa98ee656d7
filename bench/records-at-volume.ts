/**
 * How long look-ups and lists of request records take with many of them in Postgres, over the real
 * control plane. `node bench/records-at-volume.ts [--rows 10000000] [--days 29] [--hold]`. A Postgres and
 * a NATS of its own, whose data are removed at the end; 127.0.0.1 only; ends by itself. 10 million
 * records take about 11 GB. `--hold` keeps everything running until Ctrl-C or an hour has passed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import pg from 'pg';
import { daysBefore, loadDay, loadVariants, RARE } from './volume/load-records.ts';
import { timeQueries, timeLookUps } from './volume/time-queries.ts';

const MAX_ROWS = 100_000_000;
const MAX_MS = 60 * 60 * 1000;
const LOOK_UPS = 300;
const LOADERS = 2;

/** Durability costs time here and is of no use: all of it is thrown away. The reads are the same. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  maintenance_work_mem: '512MB',
  max_wal_size: '4GB',
};

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    days: { type: 'string', default: '29' },
    hold: { type: 'boolean', default: false },
  },
});
const days = Math.min(Math.max(1, Number(values.days)), 29);
const perDay = Math.floor(Math.min(Number(values.rows), MAX_ROWS) / days);

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

async function load(url: string): Promise<void> {
  const startedMs = performance.now();
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

async function printSize(client: pg.Client): Promise<void> {
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

async function measure(stack: PlaneStack): Promise<void> {
  const controlPlane = await stack.startControlPlane({ env: { MANAGEMENT_RATE_LIMIT: '1000000' } });
  await load(stack.databaseUrl);
  await withClient(stack.databaseUrl, async (client) => {
    await printSize(client);
    const api = { baseUrl: controlPlane.baseUrl, token: stack.adminToken };
    await timeLookUps(client, api, LOOK_UPS, print);
    await timeQueries(client, api, RARE, Math.floor((days * 2) / 3), print);
    if (values.hold) {
      print(`database: ${stack.databaseUrl}; API: ${api.baseUrl}; token: ${api.token}`);
      await delay(MAX_MS);
    }
  });
}

const stack = await createPlaneStack({ ownPostgres: true, postgresSettings: SETTINGS });
const stopped = new AbortController();
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
const tooLong = delay(MAX_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
try {
  await Promise.race([measure(stack), interrupted, tooLong]);
} finally {
  stopped.abort();
  await stack.close();
}
