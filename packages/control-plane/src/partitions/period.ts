/** The time that one partition covers: a UTC day or month, identified by its first ms. */
export type Period = 'day' | 'month';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The first ms of the period that contains the time, ms since the Unix epoch. */
export function startOfPeriod(period: Period, timeMs: number): number {
  if (period === 'day') return Math.floor(timeMs / DAY_MS) * DAY_MS;
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
}

/** The first ms after the period that begins at `startMs`. */
export function endOfPeriod(period: Period, startMs: number): number {
  if (period === 'day') return startMs + DAY_MS;
  const start = new Date(startMs);
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
}
