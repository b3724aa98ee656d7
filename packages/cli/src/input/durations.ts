import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 };

/** The milliseconds of a duration such as `90s`, `5m` or `1h`. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  if (count === undefined)
    throw new InvalidArgumentError('It must be a duration such as 90s or 5m.');
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
