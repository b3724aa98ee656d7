import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  AUDIT_EVENTS,
  REQUEST_RECORDS,
  type PartitionedTable,
} from '../domain/partitioned-table.ts';
import { createIdFactory } from '@gateway/shared/ids';
import { ownOrigin } from '../domain/audit-event.ts';
import { revokeExpiredTokens } from '../store/configuration/tokens.ts';
import { forgetChanges, forgetVersions } from '../store/configuration/config-versions.ts';
import type { Database } from '../store/database.ts';
import {
  deleteStrays,
  dropPartition,
  listPartitions,
  makePartitions,
} from '../store/partitions/partitions.ts';
import type { PartitionMetrics } from './partition-metrics.ts';
import { planPartitions, retentionStart } from './partition-plan.ts';
import { untilDone } from './until-done.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A run that has nothing to do costs next to nothing. */
const EVERY_MS = 60 * 1000;
/** Few, so that nobody waits long for the DEFAULT partition, which is locked meanwhile. */
const BATCH_PARTITIONS = 10;
/** A token that expired this long ago is revoked, so that it leaves the snapshots and its name is free. */
const EXPIRED_TOKEN_DAYS = 7;
/** Old versions are looked for once in so many runs. */
const RUNS_PER_HISTORY = 60;

export interface PartitionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: PartitionMetrics;
}

export interface RetentionOptions extends PartitionOptions {
  /** How long versions of configurations can be listed and rolled back to. */
  readonly historyDays: number;
}

export interface Retention {
  /** Lets a run that is under way end. */
  stop(): Promise<void>;
}

/**
 * Every minute: creates the partitions of request records and audit events ahead of their time and drops
 * those past their retention. Every hour: deletes old versions of configurations and revokes tokens that
 * expired a week ago. Any number of control planes may run it side by side.
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
  for (let run = 0; !signal.aborted; run += 1) {
    await keepPartitionsOrLog(options, signal, () =>
      run % RUNS_PER_HISTORY === 0
        ? runRetention(options, signal)
        : keepAllPartitions(options, signal),
    );
    await pause(options.clock, EVERY_MS, signal);
  }
}

/**
 * One run. A step that another process is at, or that would delay the table's users for too long, is
 * tried again for a few seconds.
 *
 * @throws if Postgres fails, or if a step gets no turn.
 */
export async function runRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { db, clock } = options;
  await keepAllPartitions(options, signal);
  const keptFrom = clock.nowMs() - options.historyDays * DAY_MS;
  await untilNone(() => forgetVersions(db, keptFrom), signal);
  await untilNone(() => forgetChanges(db), signal);
  const origin = ownOrigin(createIdFactory(() => clock.nowMs()));
  const expiredBefore = new Date(clock.nowMs() - EXPIRED_TOKEN_DAYS * DAY_MS);
  await untilNone(() => revokeExpiredTokens(db, expiredBefore, origin), signal);
}

/**
 * As one run of the retention, of partitions alone. An error is logged: until a later run succeeds, rows
 * go to the DEFAULT partition.
 */
export async function keepPartitionsOrLog(
  options: PartitionOptions,
  signal: AbortSignal,
  run = () => keepAllPartitions(options, signal),
): Promise<void> {
  try {
    await run();
  } catch (error) {
    options.log.error({ err: error }, 'partition maintenance failed; trying again in a minute');
  }
}

async function keepAllPartitions(options: PartitionOptions, signal: AbortSignal): Promise<void> {
  const nowMs = options.clock.nowMs();
  for (const table of [REQUEST_RECORDS, AUDIT_EVENTS]) {
    await keepPartitions(options, table, nowMs, signal);
  }
}

async function keepPartitions(
  { db, clock, log, metrics }: PartitionOptions,
  table: PartitionedTable,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const before = retentionStart(nowMs, table);
  await untilNone(() => deleteStrays(db, table, before), signal);
  const { make, drop } = planPartitions(table, await listPartitions(db, table), nowMs);
  const labels = { table: table.name };
  metrics?.missing.set(labels, make.length);
  for (let index = 0; index < make.length; index += BATCH_PARTITIONS) {
    const batch = make.slice(index, index + BATCH_PARTITIONS);
    const step = (lockMs: number) => makePartitions(db, table, batch, lockMs);
    const { made = [], late = [] } = (await untilDone(step, clock, signal)) ?? {};
    if (signal.aborted) return;
    metrics?.missing.dec(labels, batch.length);
    metrics?.late.inc(labels, late.length);
    const [first] = made;
    if (first !== undefined) {
      log.info({ ...labels, from: dateOf(first), count: made.length }, 'partitions created');
    }
    for (const { startMs, rows } of late) {
      log.warn({ ...labels, from: dateOf(startMs), rows }, 'late rows moved to their partition');
    }
  }
  for (const start of drop) {
    const step = (lockMs: number) => dropPartition(db, table, start, lockMs);
    if ((await untilDone(step, clock, signal)) !== 'done') continue;
    log.info({ ...labels, from: dateOf(start) }, 'partition past its retention dropped');
  }
}

async function untilNone(step: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await step()) > 0);
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
