import { busyUsOf, usageOf } from './process-tree.ts';
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
  readonly ownFigure?: number | undefined;
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

/** The outcome of a load in one round. A request is what the load counts. */
export interface RoundResult extends LoadOutcome {
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly residentBytes: number;
  /** Share of the measured core's time that other processes used, 0 to 1. */
  readonly foreignShare: number;
}

/** Runs a load and reads the CPU time of the processes and their descendants before and after. */
export async function measureLoad(
  pids: readonly number[],
  measuredCore: number,
  load: () => Promise<LoadOutcome>,
): Promise<RoundResult> {
  const before = usageOf(...pids);
  const busyBeforeUs = busyUsOf(measuredCore);
  const outcome = await load();
  const busyUs = busyUsOf(measuredCore) - busyBeforeUs;
  const { cpuUs, residentBytes } = usageOf(...pids);
  const usedUs = cpuUs - before.cpuUs;
  return {
    ...outcome,
    requestsPerSecond: (outcome.units * 1e6) / outcome.durationUs,
    cpuUsPerRequest: usedUs / outcome.units,
    residentBytes,
    foreignShare: Math.max(0, busyUs - usedUs) / outcome.durationUs,
  };
}
