import { runLoad } from '../load/wrk.ts';
import type { BenchOptions } from '../options.ts';
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

/** Loads a row for a round and reads its accounting before and after. */
export async function runRound(
  peer: Peer,
  seconds: number,
  measuredCore: number,
  options: BenchOptions,
  signal: AbortSignal,
): Promise<RoundResult> {
  const { url, authorization, pid, shape } = peer;
  const { connections } = options;
  const before = usageOf(pid);
  const busyBeforeUs = busyUsOf(measuredCore);
  const load = await runLoad({ ...shape, url, authorization, connections, seconds, signal });
  const busyUs = busyUsOf(measuredCore) - busyBeforeUs;
  const after = usageOf(pid);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests: load.requests,
    failed: load.failed_status + load.failed_socket,
    requestsPerSecond: (load.requests * 1e6) / load.duration_us,
    cpuUsPerRequest: cpuUs / load.requests,
    p50Us: load.p50_us,
    p99Us: load.p99_us,
    residentBytes: after.residentBytes,
    foreignShare: Math.max(0, busyUs - cpuUs) / load.duration_us,
  };
}
