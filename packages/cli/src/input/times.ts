import { InvalidArgumentError } from 'commander';
import { durationMs } from './durations.ts';

/** A time of RFC 3339, or how long ago: `90s`, `15m`, `2h`, `7d`. Returns RFC 3339. */
export const timeOption =
  (nowMs: () => number) =>
  (text: string): string => {
    const agoMs = durationMs(text);
    if (agoMs !== undefined) return new Date(nowMs() - agoMs).toISOString();
    const ms = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(ms)) return new Date(ms).toISOString();
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-01-31T12:00:00Z, 15m, 2h or 7d.',
    );
  };
