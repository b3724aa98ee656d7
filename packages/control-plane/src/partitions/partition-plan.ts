import type { PartitionedTable } from '../domain/partitioned-table.ts';
import { endOfPeriod, periodOf } from '../domain/period.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Rule = Pick<PartitionedTable, 'period' | 'ahead' | 'retentionDays'>;

export interface PartitionPlan {
  /** Periods to make a partition for, each by the ms at which it begins. */
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
 * its retention, so a row is there for at least that long and at most one period more.
 *
 * @param existing periods that have a partition.
 * @param strays periods of which rows lie in the DEFAULT partition.
 */
export function planPartitions(
  rule: Rule,
  existing: readonly number[],
  strays: readonly number[],
  nowMs: number,
): PartitionPlan {
  const { period } = rule;
  const coming = [periodOf(period, nowMs)];
  for (let last = coming[0] ?? 0; coming.length <= rule.ahead; coming.push(last)) {
    last = endOfPeriod(period, last);
  }
  const keptFrom = retentionStart(nowMs, rule);
  const isPast = (start: number) => endOfPeriod(period, start) <= keptFrom;
  // Rows from a clock that is days ahead get theirs as well: left in DEFAULT they would be read, under a
  // lock, each time that a partition is made.
  const farthest = nowMs + rule.retentionDays * DAY_MS;
  const wanted = new Set([
    ...strays.filter((start) => start <= farthest && !isPast(start)),
    ...coming,
  ]);
  return {
    make: [...wanted].filter((start) => !existing.includes(start)).sort((a, b) => a - b),
    drop: existing.filter(isPast).sort((a, b) => a - b),
  };
}
