import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  AUDIT_EVENTS,
  REQUEST_RECORDS,
  type PartitionedTable,
} from '../domain/partitioned-table.ts';
import { forgetChanges, forgetVersions } from '../store/configuration/config-versions.ts';
import type { Database } from '../store/database.ts';
import { findMove } from '../store/partitions/late-rows.ts';
import {
  deleteStrays,
  dropPartition,
  listPartitions,
  listStrayPeriods,
  makePartition,
} from '../store/partitions/partitions.ts';
import { moveLateRows } from './late-rows-move.ts';
import type { PartitionMetrics } from './partition-metrics.ts';
import { planPartitions, retentionStart } from './partition-plan.ts';
import { untilDone } from './until-done.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Where nothing is to be done a run costs next to nothing, and rows that have no partition are few. */
const EVERY_MS = 60 * 1000;
/** Old versions are looked for more seldom, by every so many runs. */
const RUNS_PER_HISTORY = 60;

export interface RetentionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: PartitionMetrics;
  /** How long versions of configurations can be listed and rolled back to. */
  readonly historyDays: number;
}

export interface Retention {
  /** Lets a run that is under way end. */
  stop(): Promise<void>;
}

/**
 * Keeps the partitions of request records and audit events right, now and every minute: those of the
 * time ahead are made, those past their retention are dropped. Old versions of configurations go every
 * hour. Any number of control planes run it side by side.
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
    try {
      if (run % RUNS_PER_HISTORY === 0) await runRetention(options, signal);
      else await keepAllPartitions(options, signal);
    } catch (error) {
      options.log.error({ err: error }, 'cannot keep the partitions of tables right');
    }
    await pause(options.clock, EVERY_MS, signal);
  }
}

/**
 * One run. A step that another process is at, or that the table's users would be held up by for too
 * long, is tried again for a few seconds.
 *
 * @throws where Postgres fails, or where a step did not come to its turn.
 */
export async function runRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { db, clock } = options;
  await keepAllPartitions(options, signal);
  const keptFrom = clock.nowMs() - options.historyDays * DAY_MS;
  await untilNone(() => forgetVersions(db, keptFrom), signal);
  await untilNone(() => forgetChanges(db), signal);
}

async function keepAllPartitions(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const nowMs = options.clock.nowMs();
  for (const table of [REQUEST_RECORDS, AUDIT_EVENTS]) {
    await keepPartitions(options, table, nowMs, signal);
  }
}

async function keepPartitions(
  { db, clock, log, metrics }: RetentionOptions,
  table: PartitionedTable,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const before = retentionStart(nowMs, table);
  await untilNone(() => deleteStrays(db, table, before), signal);
  const strays = await listStrayPeriods(db, table);
  const plan = planPartitions(table, await listPartitions(db, table), strays, nowMs);
  const named = (startMs: number) => ({ table: table.name, from: textOf(startMs) });
  const late = new Set(strays.filter((start) => plan.make.includes(start)));
  for (const start of late) {
    log.warn(
      named(start),
      'a partition is missing: its rows lie in the DEFAULT one until it is made',
    );
  }
  metrics?.late.inc({ table: table.name }, late.size);
  metrics?.missing.set({ table: table.name }, plan.make.length);
  // Also to end one that was broken off: until then no partition can be made.
  if (late.size > 0 || (await findMove(db, table)) !== undefined) {
    const moved = await moveLateRows({ db, clock }, table, plan.make, signal);
    if (signal.aborted) return;
    metrics?.missing.dec({ table: table.name }, plan.make.length);
    for (const start of moved ? plan.make : []) {
      log.info(
        named(start),
        late.has(start) ? 'made a partition and moved its rows' : 'made a partition',
      );
    }
  } else {
    for (const start of plan.make) {
      if (signal.aborted) return;
      const made = await untilDone(
        (lockTimeoutMs) => makePartition(db, table, start, lockTimeoutMs),
        clock,
        signal,
      );
      metrics?.missing.dec({ table: table.name });
      if (made) log.info(named(start), 'made a partition');
    }
  }
  for (const start of plan.drop) {
    if (signal.aborted) return;
    const dropped = await untilDone(
      (lockTimeoutMs) => dropPartition(db, table, start, lockTimeoutMs),
      clock,
      signal,
    );
    if (!dropped) continue;
    log.info(named(start), 'dropped a partition, as all of it is past its retention');
  }
}

async function untilNone(step: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await step()) > 0);
}

function textOf(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10);
}
