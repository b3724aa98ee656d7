import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  AUDIT_EVENTS,
  REQUEST_RECORDS,
  REQUEST_STATISTICS,
  type PartitionedTable,
} from './partitioned-table.ts';
import type { Database } from '../store/database.ts';
import {
  deleteOldDefaultRows,
  dropPartition,
  listPartitions,
  createPartitions,
} from './store/partitions.ts';
import type { PartitionMetrics } from './partition-metrics.ts';
import { planPartitions, retentionStart } from './partition-plan.ts';
import { retryWhileLocked } from './retry-while-locked.ts';

/** Few, because the DEFAULT partition is locked while a batch is created. */
const BATCH_PARTITIONS = 10;

export interface PartitionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: PartitionMetrics;
}

/**
 * Creates the partitions of request records, statistics and audit events ahead of their time and drops those past
 * their retention. A step that another process runs, or that would delay the table's users for too
 * long, is tried again for a few seconds.
 *
 * @throws if Postgres fails, or if a table stays in use.
 */
export async function maintainPartitions(
  options: PartitionOptions,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = options.clock.nowMs();
  for (const table of [REQUEST_RECORDS, REQUEST_STATISTICS, AUDIT_EVENTS]) {
    await keepTable(options, table, nowMs, signal);
  }
}

/**
 * As `maintainPartitions`, but logs an error: until a later run succeeds, rows go to the DEFAULT partition.
 */
export async function keepPartitionsOrLog(
  options: PartitionOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await maintainPartitions(options, signal);
  } catch (error) {
    options.log.error({ err: error }, 'partition maintenance failed; retrying in a minute');
  }
}

async function keepTable(
  { db, clock, log, metrics }: PartitionOptions,
  table: PartitionedTable,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const before = retentionStart(nowMs, table);
  const { create, drop } = planPartitions(table, await listPartitions(db, table), nowMs);
  const labels = { table: table.name };
  // Set before the first step that may wait for a lock and fail.
  metrics?.missing.set(labels, create.length);
  // Prometheus does not see the first event of a series that begins with it.
  metrics?.late.inc(labels, 0);
  while (!signal.aborted && (await deleteOldDefaultRows(db, table, before)) > 0);
  for (let index = 0; index < create.length; index += BATCH_PARTITIONS) {
    const batch = create.slice(index, index + BATCH_PARTITIONS);
    const step = (lockMs: number) => createPartitions(db, table, batch, lockMs);
    const { created = [], late = [] } = (await retryWhileLocked(step, clock, signal)) ?? {};
    if (signal.aborted) return;
    metrics?.missing.dec(labels, batch.length);
    metrics?.late.inc(labels, late.length);
    const [first] = created;
    if (first !== undefined) {
      log.info({ ...labels, from: dateOf(first), count: created.length }, 'partitions created');
    }
    for (const { startMs, rows } of late) {
      log.warn({ ...labels, from: dateOf(startMs), rows }, 'late rows moved to their partition');
    }
  }
  for (const start of drop) {
    const step = (lockMs: number) => dropPartition(db, table, start, lockMs);
    if ((await retryWhileLocked(step, clock, signal)) !== 'done') continue;
    log.info({ ...labels, from: dateOf(start) }, 'expired partition dropped');
  }
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
