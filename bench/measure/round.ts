import type { LoadOutcome } from '../load/outcome.ts';
import { runWrk } from '../load/wrk.ts';
import type { Peer } from '../peers/peer.ts';
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

/** The load, the same for every row. */
export interface LoadKind {
  readonly connections: number;
  /** Length of a round. */
  readonly seconds: number;
  /**
   * Load before the measurement. Without it, a row that was idle while the others had their turn would be measured
   * while it refills the CPU's caches.
   */
  readonly leadInSeconds: number;
  /** Pause of a connection between two requests, ms, such as `4-12`; undefined: full load. */
  readonly restMs: string | undefined;
}

/** Loads a row for one round and reads its CPU time before and after. */
export async function runRound(
  peer: Peer,
  kind: LoadKind,
  measuredCore: number,
  signal: AbortSignal,
): Promise<RoundResult> {
  const { url, authorization, pid, shape } = peer;
  const load = (seconds: number) =>
    runWrk({ ...shape, ...kind, seconds, url, authorization, signal });
  if (kind.leadInSeconds > 0) await load(kind.leadInSeconds);
  return measureLoad(pid, measuredCore, () => load(kind.seconds));
}

/** Runs a load and reads the CPU time of the process and its descendants before and after. */
export async function measureLoad(
  pid: number,
  measuredCore: number,
  load: () => Promise<LoadOutcome>,
): Promise<RoundResult> {
  const before = usageOf(pid);
  const busyBeforeUs = busyUsOf(measuredCore);
  const { units, failed, durationUs, p50Us, p99Us, ownFigure } = await load();
  const busyUs = busyUsOf(measuredCore) - busyBeforeUs;
  const after = usageOf(pid);
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
