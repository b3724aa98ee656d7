import { setTimeout as delay } from 'node:timers/promises';
import type { RecordDocuments } from '@gateway/control-plane/domain/record-document';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import pg from 'pg';
import { createMemoryGroup } from './memory-limit.ts';
import { daysBefore, loadDay, loadVariants, randomIds, RARE } from './load-records.ts';
import { printSizes } from './record-sizes.ts';
import { timeLists } from './time-lists.ts';
import { timeLookups } from './time-lookups.ts';

/** What `npm run bench -- records` is given. */
export interface RecordsOptions {
  /** How many records are created. */
  readonly rows: number;
  readonly days: number;
  readonly lookups: number;
  /** The form of the stored documents. */
  readonly documents: RecordDocuments;
  /** Of Postgres with its page cache; undefined: no limit. */
  readonly memoryMib?: number;
  /** Keeps everything running until Ctrl-C or the end of the time. */
  readonly hold: boolean;
}

const MAX_MS = 60 * 60 * 1000;
const LOADERS = 2;
const MIB = 1024 * 1024;

/** All data is thrown away at the end, so durability is off. Reads do not depend on it. */
export const THROWN_AWAY = {
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
  const undo = new UndoList();
  const done = new AbortController();
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const timeout = delay(MAX_MS, undefined, { signal: done.signal }).catch(() => undefined);
  const starting = start(options, undo);
  try {
    await Promise.race([measure(starting, options, done.signal), interrupted, timeout]);
  } finally {
    done.abort();
    // What is only just starting is stopped too.
    await starting.catch(() => undefined);
    await undo.run();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Works with a connection that may be lost at any time, and ends it. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // After Ctrl-C Postgres ends the connection; without this, that would end the process before the data is removed.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Starts the stack; what stops it, and then removes the limit of its memory, is added to the list. */
async function start({ memoryMib }: RecordsOptions, undo: UndoList): Promise<PlaneStack> {
  const group = memoryMib === undefined ? undefined : await createMemoryGroup(memoryMib * MIB);
  undo.add(() => group?.remove());
  const stack = await createPlaneStack({ ownPostgres: true, postgresSettings: THROWN_AWAY });
  undo.add(() => stack.close());
  if (stack.postgres !== undefined) await group?.add(stack.postgres.pid);
  return stack;
}

async function load(url: string, starts: readonly number[], perDay: number): Promise<void> {
  const startedMs = performance.now();
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

async function measure(
  starting: Promise<PlaneStack>,
  options: RecordsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { rows, days, lookups, documents, hold } = options;
  const stack = await starting;
  signal.throwIfAborted();
  const env = { MANAGEMENT_RATE_LIMIT: '1000000' };
  const controlPlane = await stack.startControlPlane({ env, signal });
  const starts = daysBefore(Date.now(), days);
  const perDay = Math.floor(rows / days);
  await withClient(stack.databaseUrl, (client) => loadVariants(client, documents));
  await load(stack.databaseUrl, starts, perDay);
  await withClient(stack.databaseUrl, async (client) => {
    await printSizes(client, print);
    const api = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    await timeLookups(client, api, randomIds(starts, perDay, lookups), print);
    await timeLists(client, api, RARE, Math.floor((days * 2) / 3), print);
    if (hold) {
      print(
        `database: ${stack.databaseUrl}; API: ${controlPlane.baseUrl}; token: ${stack.adminToken}`,
      );
      await delay(MAX_MS);
    }
  });
}
