import type { PartitionedTable } from '../domain/partitioned-table.ts';
import { endOfPeriod, periodOf } from '../domain/period.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Rule = Pick<PartitionedTable, 'period' | 'behind' | 'ahead' | 'retentionDays'>;

export interface PartitionPlan {
  /** Periods to create a partition for, each by the ms at which it begins. */
  readonly make: readonly number[];
  /** Periods of which every row is past its retention. */
  readonly drop: readonly number[];
}

/** Rows from before this are past their retention, ms since the Unix epoch. */
export function retentionStart(nowMs: number, { retentionDays }: Rule): number {
  return nowMs - retentionDays * DAY_MS;
}

/**
 * Which partitions are missing and which are past. A period is dropped only when its last row is past
 * its retention, so a row stays for at least that long and at most one period more.
 *
 * @param existing periods that have a partition.
 */
export function planPartitions(
  rule: Rule,
  existing: readonly number[],
  nowMs: number,
): PartitionPlan {
  const { period } = rule;
  const keptFrom = retentionStart(nowMs, rule);
  const isPast = (start: number) => endOfPeriod(period, start) <= keptFrom;
  const wanted = [];
  const lastMs = nowMs + rule.ahead * DAY_MS;
  let start = periodOf(period, nowMs - rule.behind * DAY_MS);
  for (; start <= lastMs; start = endOfPeriod(period, start)) wanted.push(start);
  return {
    make: wanted.filter((one) => !existing.includes(one) && !isPast(one)),
    drop: existing.filter(isPast),
  };
}
