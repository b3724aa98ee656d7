import { RECORD_RETENTION_DAYS } from '@gateway/shared/records/record';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** How many days after today have their partition ready. */
export const DAYS_AHEAD = 3;

export interface PartitionPlan {
  /** Days to make a partition for, each by the ms at which it begins. */
  readonly make: readonly number[];
  /** Days of which every record is past its retention. */
  readonly drop: readonly number[];
}

/** The UTC day of a time, by the ms at which it begins. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** Records received before this are past their retention, ms since the Unix epoch. */
export function retentionStart(nowMs: number): number {
  return nowMs - RECORD_RETENTION_DAYS * DAY_MS;
}

/**
 * Which partitions are missing and which are past. A day is dropped only when its last record is
 * past its retention, so a record is there for at least 30 days and at most one more.
 *
 * @param existing days that have a partition.
 * @param strays days of which records lie in the DEFAULT partition.
 */
export function planPartitions(
  existing: readonly number[],
  strays: readonly number[],
  nowMs: number,
): PartitionPlan {
  const today = dayOf(nowMs);
  const last = today + DAYS_AHEAD * DAY_MS;
  const keptFrom = retentionStart(nowMs);
  const isPast = (day: number) => day + DAY_MS <= keptFrom;
  const wanted = new Set(strays.filter((day) => day <= last && !isPast(day)));
  for (let day = today; day <= last; day += DAY_MS) wanted.add(day);
  return {
    make: [...wanted].filter((day) => !existing.includes(day)).sort((a, b) => a - b),
    drop: existing.filter(isPast).sort((a, b) => a - b),
  };
}
