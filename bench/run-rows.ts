import { runRound, type RoundResult } from './measure/round.ts';
import type { BenchOptions } from './options.ts';
import type { Peer } from './peers/peer.ts';

/**
 * Warms every row up, then visits all of them in each round, one after the other: what disturbs the
 * machine for a while hits all alike.
 */
export async function runRows(
  peers: readonly Peer[],
  measuredCore: number,
  options: BenchOptions,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<ReadonlyMap<Peer, readonly RoundResult[]>> {
  const results = new Map<Peer, RoundResult[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round <= options.rounds; round += 1) {
    const warmUp = round === 0;
    log(warmUp ? 'warm-up' : `round ${round} of ${options.rounds}`);
    const seconds = warmUp ? options.warmUpSeconds : options.roundSeconds;
    for (const [peer, rounds] of results) {
      const result = await runRound(peer, seconds, measuredCore, options, signal);
      await peer.settle();
      if (!warmUp) rounds.push(result);
      log(
        `  ${peer.name.padEnd(20)} ${result.requestsPerSecond.toFixed(0).padStart(7)}/s ` +
          `${result.cpuUsPerRequest.toFixed(1).padStart(6)} µs`,
      );
    }
  }
  return results;
}
