import type { Clock } from '@gateway/shared/clock';
import { isStatementTimeout } from '../store/failures.ts';

/** Which records are counted. */
export interface CountedPeriod {
  /** ms since the Unix epoch. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly maxRecords: number;
}

/** What was counted, and for how much of the period. */
export interface PeriodCount {
  readonly requests: number;
  /** Older records were not counted, because there are too many; undefined: all were. */
  readonly oldestMs: number | undefined;
}

/** For the whole period at once. */
const WHOLE_TIMEOUT_MS = 1000;
/** After that, windows of time are counted one after the other, for about this long in total. */
const WINDOWS_BUDGET_MS = 1500;
const WINDOW_TIMEOUT_MS = 500;
const FIRST_WINDOW_MS = 10 * 60 * 1000;
/** If a window takes less than this, the next one is wider. */
const QUICK_MS = 100;
const WIDEN = 4;
const NARROW = 8;

/**
 * Counts records of a period, the newest first, within about three seconds: at once, or if that takes too long by windows
 * of time until the time is up. Each window is counted once.
 *
 * @param count throws an error for which `isStatementTimeout` is true if Postgres takes longer than `timeoutMs`
 * @returns the counts of the windows, and from when on the period is counted, ms since the Unix epoch
 */
export async function countByTime<Count extends PeriodCount>(
  count: (period: CountedPeriod, timeoutMs: number) => Promise<Count>,
  clock: Pick<Clock, 'monotonicMs'>,
  period: CountedPeriod,
): Promise<{ readonly counts: readonly Count[]; readonly countedFromMs: number }> {
  try {
    const counted = await count(period, WHOLE_TIMEOUT_MS);
    return { counts: [counted], countedFromMs: counted.oldestMs ?? period.sinceMs };
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    return countWindows(count, clock, period);
  }
}

async function countWindows<Count extends PeriodCount>(
  count: (period: CountedPeriod, timeoutMs: number) => Promise<Count>,
  clock: Pick<Clock, 'monotonicMs'>,
  { sinceMs, untilMs, maxRecords }: CountedPeriod,
): Promise<{ readonly counts: readonly Count[]; readonly countedFromMs: number }> {
  const endMs = clock.monotonicMs() + WINDOWS_BUDGET_MS;
  const counts: Count[] = [];
  let countedFromMs = untilMs;
  let left = maxRecords;
  let widthMs = FIRST_WINDOW_MS;
  while (countedFromMs > sinceMs && left > 0) {
    const startedMs = clock.monotonicMs();
    if (startedMs >= endMs) break;
    const window = {
      sinceMs: Math.max(sinceMs, Math.floor(countedFromMs - widthMs)),
      untilMs: countedFromMs,
      maxRecords: left,
    };
    try {
      const counted = await count(window, Math.min(WINDOW_TIMEOUT_MS, endMs - startedMs));
      counts.push(counted);
      left -= counted.requests;
      countedFromMs = counted.oldestMs ?? window.sinceMs;
      if (counted.oldestMs !== undefined) break;
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      widthMs = Math.max(1, widthMs / NARROW);
      continue;
    }
    if (clock.monotonicMs() - startedMs < QUICK_MS) widthMs *= WIDEN;
  }
  return { counts, countedFromMs };
}
