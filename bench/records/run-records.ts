import { setTimeout as delay } from 'node:timers/promises';
import type { RecordDocuments } from '@gateway/control-plane/requests/record-document';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { UndoList } from '@gateway/shared/test/undo-list';
import type pg from 'pg';
import { untilInterrupted } from '../lab/interruption.ts';
import { withClient } from '../lab/with-client.ts';
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
  /** Keeps everything running after the measurement until Ctrl-C, for another hour at most. */
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
 * Measures how long record queries take over the real control plane when Postgres holds many records. Ends with an error
 * if that takes more than an hour, and removes its Postgres and NATS.
 */
export function runRecords(options: RecordsOptions): Promise<void> {
  return untilInterrupted(async (signal, stop) => {
    const timer = setTimeout(() => stop(`not done within ${MAX_MS / 1000} s`), MAX_MS);
    const undo = new UndoList();
    try {
      const stack = await start(options, undo);
      const controlPlane = await measure(stack, options, signal);
      clearTimeout(timer);
      if (!options.hold) return;
      print(
        `database: ${stack.databaseUrl}; API: ${controlPlane.baseUrl}; token: ${stack.adminToken}`,
      );
      await delay(MAX_MS, undefined, { signal });
    } finally {
      clearTimeout(timer);
      await undo.run();
    }
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
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

async function load(
  url: string,
  starts: readonly number[],
  perDay: number,
  signal: AbortSignal,
): Promise<void> {
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
  await Promise.all(Array.from({ length: LOADERS }, () => withClient(url, signal, loader)));
}

/** Returns the control plane, which still runs. */
async function measure(
  stack: PlaneStack,
  { rows, days, lookups, documents }: RecordsOptions,
  signal: AbortSignal,
): Promise<ServiceProcess> {
  signal.throwIfAborted();
  const env = { MANAGEMENT_RATE_LIMIT: '1000000' };
  const controlPlane = await stack.startControlPlane({ env, signal });
  const starts = daysBefore(Date.now(), days);
  const perDay = Math.floor(rows / days);
  await withClient(stack.databaseUrl, signal, (client) => loadVariants(client, documents));
  await load(stack.databaseUrl, starts, perDay, signal);
  await withClient(stack.databaseUrl, signal, async (client) => {
    await printSizes(client, print);
    const api = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    const ids = randomIds(starts, perDay, lookups);
    await timeLookups({ client, api, signal, print }, ids);
    await timeLists({ client, api, signal, print }, RARE, Math.floor((days * 2) / 3));
  });
  return controlPlane;
}
