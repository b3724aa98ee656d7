import type { PartitionedTable } from './partitioned-table.ts';
import { endOfPeriod, startOfPeriod } from './period.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Rule = Pick<PartitionedTable, 'period' | 'daysBehind' | 'daysAhead' | 'retentionDays'>;

export interface PartitionPlan {
  /** Periods that need a partition, each by its first ms. */
  readonly create: readonly number[];
  /** Periods in which every row is past its retention, each by its first ms. */
  readonly drop: readonly number[];
}

/** The oldest time within the retention, ms since the Unix epoch. */
export function retentionStart(nowMs: number, { retentionDays }: Rule): number {
  return nowMs - retentionDays * DAY_MS;
}

/**
 * Which partitions are missing, and which can be dropped. A period is dropped when its last row is past
 * the retention, so a row stays for at least the retention and at most one period more.
 *
 * @param existing the periods that have a partition, each by its first ms
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
  const lastMs = nowMs + rule.daysAhead * DAY_MS;
  let start = startOfPeriod(period, nowMs - rule.daysBehind * DAY_MS);
  for (; start <= lastMs; start = endOfPeriod(period, start)) wanted.push(start);
  return {
    create: wanted.filter((one) => !existing.includes(one) && !isPast(one)),
    drop: existing.filter(isPast),
  };
}
