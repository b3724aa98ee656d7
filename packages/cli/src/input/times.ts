import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time of RFC 3339, or how long ago: `90s`, `15m`, `2h`, `7d`. Returns RFC 3339. */
export const timeOption =
  (nowMs: () => number) =>
  (text: string): string => {
    const ago = /^(\d{1,6})([smhd])$/.exec(text);
    if (ago) {
      const ms = Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
      return new Date(nowMs() - ms).toISOString();
    }
    const ms = /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(ms)) return new Date(ms).toISOString();
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-01-31T12:00:00Z, 15m, 2h or 7d.',
    );
  };
