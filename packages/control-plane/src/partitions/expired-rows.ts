import { AUDIT_EVENTS } from './partitioned-table.ts';
import { forgetEnvironments } from '../environments/store/forget-environments.ts';
import { deleteUnusedSeries, findUnusedSeries } from '../statistics/store/unused-series.ts';
import { deleteReplacedSecrets, deleteRevokedTokens } from '../tokens/store/delete-ended-tokens.ts';
import type { PartitionOptions } from './maintain-partitions.ts';
import { retryWhileLocked } from './retry-while-locked.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The last audit events of a month are kept for a month longer than they must be; a margin for clocks that differ. */
const AUDIT_MONTH_DAYS = 32;
/** The pages of series that one run looks at. The next one continues. */
const MAX_PAGES = 20;

export interface ExpiredRowsOptions extends PartitionOptions {
  /** How long versions of configurations can be listed and rolled back to. */
  readonly historyDays: number;
}

/**
 * Deletes what no record, audit event or version can name any more: tokens that were revoked and secrets that were
 * replaced 400 days ago, and environments that were deleted before all of their history. Any number of control planes may
 * run it side by side.
 *
 * @throws if Postgres fails
 */
export async function deleteExpiredRows(
  { db, clock, log, historyDays }: ExpiredRowsOptions,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.nowMs();
  const tokensBeforeMs = nowMs - AUDIT_EVENTS.retentionDays * DAY_MS;
  const historyMs = Math.max(AUDIT_EVENTS.retentionDays + AUDIT_MONTH_DAYS, historyDays) * DAY_MS;
  const steps: Readonly<Record<string, () => Promise<number>>> = {
    replaced_secrets: () => deleteReplacedSecrets(db, tokensBeforeMs),
    tokens: () => deleteRevokedTokens(db, tokensBeforeMs),
    environments: () => forgetEnvironments(db, nowMs - historyMs),
  };
  for (const [table, step] of Object.entries(steps)) {
    const rows = await repeat(step, signal);
    if (rows > 0) log.info({ table, rows }, 'expired rows deleted');
  }
}

async function repeat(step: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let rows = 0;
  for (let deleted = -1; !signal.aborted && deleted !== 0; rows += deleted) deleted = await step();
  return rows;
}

/**
 * Deletes the series of statistics that have no sums any more, because all of their partitions are dropped. A run looks at
 * a bounded number of series; the next one continues where it ended.
 *
 * @returns a function for one run. It throws if Postgres fails, or if the table stays in use.
 */
export function createSeriesCleanup({
  db,
  clock,
  log,
}: PartitionOptions): (signal: AbortSignal) => Promise<void> {
  let after: string | undefined;
  return async (signal) => {
    let rows = 0;
    for (let page = 0; page < MAX_PAGES && !signal.aborted; page += 1) {
      const { unused, last } = await findUnusedSeries(db, after);
      if (unused.length > 0) {
        const remove = (lockMs: number) => deleteUnusedSeries(db, unused, lockMs);
        rows += (await retryWhileLocked(remove, clock, signal)) ?? 0;
      }
      after = last;
      if (last === undefined) break;
    }
    if (rows > 0) log.info({ table: 'statistics_series', rows }, 'expired rows deleted');
  };
}
