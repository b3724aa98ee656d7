import { percentile } from './statistics.ts';

/** What a load got done, and how long that took. */
export interface LoadOutcome {
  /** Requests, or what else the load counts, such as MiB or messages. */
  readonly units: number;
  readonly failed: number;
  readonly durationUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** A figure that only this load has. */
  readonly ownFigure?: number;
}

/** What a load of this process got done, one unit for each duration. */
export function outcomeOf(
  timesUs: readonly number[],
  failed: number,
  durationMs: number,
): LoadOutcome {
  return {
    units: timesUs.length,
    failed,
    durationUs: durationMs * 1000,
    p50Us: percentile(timesUs, 0.5),
    p99Us: percentile(timesUs, 0.99),
  };
}
