/** A stretch of time, ms since the Unix epoch. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The distances that people count in. */
const TIME_STEPS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  2 * DAY_MS,
  5 * DAY_MS,
  10 * DAY_MS,
] as const;

/** More would overlap on a phone. */
const MAX_TIMES = 5;
const MAX_VALUES = 4;

/** Where a time is in the range, from 0 to 1. */
export function placeOf(ms: number, { fromMs, toMs }: TimeRange): number {
  return Math.min(1, Math.max(0, (ms - fromMs) / Math.max(1, toMs - fromMs)));
}

/** The time at a place in the range. */
export function timeAt(place: number, { fromMs, toMs }: TimeRange): number {
  return fromMs + Math.min(1, Math.max(0, place)) * (toMs - fromMs);
}

/**
 * Times for the axis: whole minutes, hours or days, at most five.
 * @param zoneMs how far the zone of the reader is ahead of UTC
 */
export function timeTicks({ fromMs, toMs }: TimeRange, zoneMs: number): readonly number[] {
  const spanMs = toMs - fromMs;
  const stepMs = TIME_STEPS.find((step) => spanMs / step <= MAX_TIMES) ?? 30 * DAY_MS;
  const first = Math.ceil((fromMs + zoneMs) / stepMs) * stepMs - zoneMs;
  const ticks: number[] = [];
  for (let at = first; at <= toMs; at += stepMs) ticks.push(at);
  return ticks;
}

/**
 * Values for the axis: 0 and a few round ones up to the largest; only 0 if there is nothing to show.
 * @param isWhole whether parts of 1 mean nothing, such as of requests
 */
export function valueTicks(largest: number, isWhole: boolean): readonly number[] {
  if (!(largest > 0)) return [0];
  const rough = largest / MAX_VALUES;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10;
  const step = isWhole ? Math.max(1, Math.ceil(factor * power)) : factor * power;
  const count = Math.floor(largest / step + 1e-9);
  return Array.from({ length: count + 1 }, (_none, index) => index * step);
}

/** Of steps in order: the index of the one that has the time, or is nearest to it; -1: there is no step. */
export function stepAt(steps: readonly TimeRange[], ms: number): number {
  const index = steps.findIndex((step) => ms < step.toMs);
  return index === -1 ? steps.length - 1 : index;
}

/** From the begin of the earlier to the end of the later of two steps. */
export function rangeOfSteps(
  steps: readonly TimeRange[],
  one: number,
  other: number,
): TimeRange | undefined {
  const first = steps[Math.min(one, other)];
  const last = steps[Math.max(one, other)];
  return first && last && { fromMs: first.fromMs, toMs: last.toMs };
}
