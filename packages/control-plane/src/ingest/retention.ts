import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  AUDIT_EVENTS,
  REQUEST_RECORDS,
  type PartitionedTable,
} from '../domain/partitioned-table.ts';
import type { Database } from '../store/database.ts';
import {
  deleteStrays,
  dropPartition,
  listPartitions,
  listStrayPeriods,
  makePartition,
  type PartitionChange,
} from '../store/partitions.ts';
import { deletePublishedChanges } from '../store/publications.ts';
import { planPartitions, retentionStart } from './partition-plan.ts';

const EVERY_MS = 60 * 60 * 1000;
/** After a failure the next try comes sooner than the next hour. */
const AFTER_FAILURE_MS = 60 * 1000;
const LOCK_ATTEMPTS = 20;
const LOCK_RETRY_MS = 250;

export interface RetentionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Retention {
  /** Lets a run that is under way end. */
  stop(): Promise<void>;
}

/**
 * Keeps the partitions of request records and audit events right, now and every hour: those of the
 * time ahead are made, those past their retention are dropped. Any number of control planes run it side by side.
 */
export function startRetention(options: RetentionOptions): Retention {
  const stopping = new AbortController();
  const ended = loop(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function loop(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let waitMs = EVERY_MS;
    try {
      await runRetention(options, signal);
    } catch (error) {
      options.log.error({ err: error }, 'cannot keep the partitions of tables right');
      waitMs = AFTER_FAILURE_MS;
    }
    await pause(options.clock, waitMs, signal);
  }
}

/**
 * One run. A step that another process is at, or that the table's users would be held up by for too
 * long, is tried again for a few seconds.
 *
 * @throws where Postgres fails, or where a step did not come to its turn.
 */
export async function runRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { db } = options;
  const nowMs = options.clock.nowMs();
  for (const table of [REQUEST_RECORDS, AUDIT_EVENTS]) {
    await keepPartitions(options, table, nowMs, signal);
  }
  const before = retentionStart(nowMs, REQUEST_RECORDS);
  await untilNone(() => deletePublishedChanges(db, before), signal);
}

async function keepPartitions(
  { db, clock, log }: RetentionOptions,
  table: PartitionedTable,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const strays = await listStrayPeriods(db, table);
  const plan = planPartitions(table, await listPartitions(db, table), strays, nowMs);
  const named = (startMs: number) => ({ table: table.name, from: textOf(startMs) });
  for (const start of plan.make) {
    if (signal.aborted) return;
    await untilDone(() => makePartition(db, table, start), clock, signal);
    log.info(named(start), 'made a partition');
  }
  for (const start of plan.drop) {
    if (signal.aborted) return;
    await untilDone(() => dropPartition(db, table, start), clock, signal);
    log.info(named(start), 'dropped a partition, as all of it is past its retention');
  }
  const before = retentionStart(nowMs, table);
  await untilNone(() => deleteStrays(db, table, before), signal);
}

async function untilDone(
  step: () => Promise<PartitionChange>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const result = await step();
    if (result === 'done') return;
    if (attempt === LOCK_ATTEMPTS) throw new Error(`a change of partitions stayed ${result}`);
    await pause(clock, LOCK_RETRY_MS, signal);
  }
}

async function untilNone(step: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await step()) > 0);
}

function textOf(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10);
}
