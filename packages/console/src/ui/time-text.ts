const SECOND_MS = 1000;
const UNITS = [
  ['d', 24 * 60 * 60 * SECOND_MS],
  ['h', 60 * 60 * SECOND_MS],
  ['min', 60 * SECOND_MS],
  ['s', SECOND_MS],
] as const;

const local = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/** The distance of a time, such as `3 min ago` or `in 2 d`: one form on all pages. A few seconds are `just now`. */
export function relativeTime(atMs: number, nowMs: number): string {
  const distanceMs = atMs - nowMs;
  if (Math.abs(distanceMs) < 10 * SECOND_MS) return 'just now';
  for (const [unit, unitMs] of UNITS) {
    const count = Math.trunc(distanceMs / unitMs);
    if (count === 0) continue;
    const distance = `${Math.abs(count).toLocaleString('en')} ${unit}`;
    return count < 0 ? `${distance} ago` : `in ${distance}`;
  }
  return 'just now';
}

/** A time in the zone of the browser. */
export function localTime(at: string): string {
  return local.format(new Date(at));
}

/** A time in UTC: `2026-11-24 19:03:12 UTC`. */
export function utcTime(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
