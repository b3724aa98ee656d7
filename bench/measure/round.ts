import { runLoad } from '../load/wrk.ts';
import type { Peer } from '../peers/peer.ts';
import { busyUsOf } from './core-use.ts';
import { usageOf } from './process-tree.ts';

/** The figures of one row in one round. */
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
  const { connections, leadInSeconds } = kind;
  const load = (seconds: number) =>
    runLoad({ ...shape, ...kind, seconds, url, authorization, signal });
  if (leadInSeconds > 0) await load(leadInSeconds);
  const before = usageOf(pid);
  const busyBeforeUs = busyUsOf(measuredCore);
  const result = await load(kind.seconds);
  const busyUs = busyUsOf(measuredCore) - busyBeforeUs;
  const after = usageOf(pid);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests: result.requests,
    // A row that answered nothing is invalid too.
    failed: result.failed_status + result.failed_socket + (result.requests === 0 ? connections : 0),
    requestsPerSecond: (result.requests * 1e6) / result.duration_us,
    cpuUsPerRequest: cpuUs / result.requests,
    p50Us: result.p50_us,
    p99Us: result.p99_us,
    residentBytes: after.residentBytes,
    foreignShare: Math.max(0, busyUs - cpuUs) / result.duration_us,
  };
}
