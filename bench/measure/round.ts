import { runLoad } from '../load/wrk.ts';
import type { Peer } from '../peers/peer.ts';
import { busyUsOf } from './core-use.ts';
import { usageOf } from './process-tree.ts';

/** What one row did in one round. */
export interface RoundResult {
  readonly requests: number;
  readonly failed: number;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly residentBytes: number;
  /** Part of the measured core's time that went to others than the row, 0 to 1. */
  readonly foreignShare: number;
}

/** How the rows are loaded, each alike. */
export interface LoadKind {
  readonly connections: number;
  /** Of one round. */
  readonly seconds: number;
  /**
   * Loaded before that without a figure: a row that rested while all others had their turn would be
   * measured for what it takes to get back into caches and memory.
   */
  readonly leadInSeconds: number;
  /** Between two requests of a connection, ms from-to; undefined: as many as the row answers. */
  readonly restMs: string | undefined;
}

/** Loads a row for a round and reads its accounting before and after. */
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
    // A row that answered nobody at all has no figure either.
    failed: result.failed_status + result.failed_socket + (result.requests === 0 ? connections : 0),
    requestsPerSecond: (result.requests * 1e6) / result.duration_us,
    cpuUsPerRequest: cpuUs / result.requests,
    p50Us: result.p50_us,
    p99Us: result.p99_us,
    residentBytes: after.residentBytes,
    foreignShare: Math.max(0, busyUs - cpuUs) / result.duration_us,
  };
}
