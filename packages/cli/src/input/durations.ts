import { parseAmount } from '@gateway/client/amounts';
import { InvalidArgumentError } from 'commander';

/** Longer than this nobody means, and no time of RFC 3339 is that far away. */
const MAX_MS = 100 * 365 * 86_400_000;

/** The milliseconds of a duration such as `90s`, `1m 30s`, `12h` or `7d`. undefined: it is none, or has no unit. */
export function durationMs(text: string): number | undefined {
  const ms = /[a-z]\s*$/i.test(text) ? parseAmount(text, 'ms') : undefined;
  return ms === undefined || ms > MAX_MS ? undefined : ms;
}

/** The value of an option that is a duration. Its name says no unit, so the value must have one. */
export function duration(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 90s or 5m.');
}
