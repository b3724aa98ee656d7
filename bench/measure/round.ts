import type { LoadOutcome } from './outcome.ts';
import { busyUsOf } from './core-use.ts';
import { usageOf } from './process-tree.ts';

/** The figures of one row in one round. A request is what the load counts, for some workloads MiB or messages. */
export interface RoundResult {
  readonly requests: number;
  readonly failed: number;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly residentBytes: number;
  /** Share of the measured core's time that other processes used, 0 to 1. */
  readonly foreignShare: number;
  /** A figure that only one kind of load has. */
  readonly ownFigure?: number;
}

/** Runs a load and reads the CPU time of the processes and their descendants before and after. */
export async function measureLoad(
  pids: readonly number[],
  measuredCore: number,
  load: () => Promise<LoadOutcome>,
): Promise<RoundResult> {
  const before = usageOf(...pids);
  const busyBeforeUs = busyUsOf(measuredCore);
  const { units, failed, durationUs, p50Us, p99Us, ownFigure } = await load();
  const busyUs = busyUsOf(measuredCore) - busyBeforeUs;
  const after = usageOf(...pids);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests: units,
    failed,
    requestsPerSecond: (units * 1e6) / durationUs,
    cpuUsPerRequest: cpuUs / units,
    p50Us,
    p99Us,
    residentBytes: after.residentBytes,
    foreignShare: Math.max(0, busyUs - cpuUs) / durationUs,
    ...(ownFigure !== undefined && { ownFigure }),
  };
}
