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
      const measure = async () => {
        const result = await runRound(peer, seconds, measuredCore, options, signal);
        await peer.settle();
        return result;
      };
      const result = warmUp ? await measure() : await leastDisturbed(measure);
      if (!warmUp) rounds.push(result);
      log(
        `  ${peer.name.padEnd(20)} ${result.requestsPerSecond.toFixed(0).padStart(7)}/s ` +
          `${result.cpuUsPerRequest.toFixed(1).padStart(6)} µs`,
      );
    }
  }
  return results;
}

/** Above this share of the measured core lost to others, a round tells more of them than of the row. */
const DISTURBED_SHARE = 0.1;

/** How often a row's part of a round is measured at most. */
export const MAX_TRIES = 3;

/** Measures again where others had the core, and takes the try that lost least of it. */
async function leastDisturbed(measure: () => Promise<RoundResult>): Promise<RoundResult> {
  let best = await measure();
  for (let tries = 1; tries < MAX_TRIES && best.foreignShare > DISTURBED_SHARE; tries += 1) {
    const next = await measure();
    if (next.foreignShare < best.foreignShare) best = next;
  }
  return best;
}
