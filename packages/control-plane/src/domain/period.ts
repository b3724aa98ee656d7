/** What one partition of a table holds: a UTC day or month, known by the ms at which it begins. */
export type Period = 'day' | 'month';

const DAY_MS = 24 * 60 * 60 * 1000;

/** When the period of a time began, ms since the Unix epoch. */
export function periodOf(period: Period, timeMs: number): number {
  if (period === 'day') return Math.floor(timeMs / DAY_MS) * DAY_MS;
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
}

/** When the period that began then is over, and the next one begins. */
export function endOfPeriod(period: Period, startMs: number): number {
  if (period === 'day') return startMs + DAY_MS;
  const start = new Date(startMs);
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
}
