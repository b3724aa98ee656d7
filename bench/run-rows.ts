import type { Cores } from './measure/cores.ts';
import { createQuietWait } from './measure/quiet.ts';
import { runRound, type RoundResult } from './measure/round.ts';
import type { BenchOptions } from './options.ts';
import type { Peer } from './peers/peer.ts';
import { DISTURBED_SHARE } from './report/row.ts';

/** How many disturbed parts of a round are measured again, over the whole run. */
export const MAX_REPEATS = 8;

/** How long a whole run waits for quiet. */
export const MAX_QUIET_WAIT_MS = 40_000;

/**
 * Warms every row up, then visits all of them in each round, one after the other: what disturbs the
 * machine for a while hits all alike.
 */
export async function runRows(
  peers: readonly Peer[],
  cores: Cores,
  options: BenchOptions,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<ReadonlyMap<Peer, readonly RoundResult[]>> {
  const results = new Map<Peer, RoundResult[]>(peers.map((peer) => [peer, []]));
  const quiet = createQuietWait(cores.all, MAX_QUIET_WAIT_MS, signal);
  let repeatsLeft = MAX_REPEATS;
  for (let round = 0; round <= options.rounds; round += 1) {
    const warmUp = round === 0;
    log(warmUp ? 'warm-up' : `round ${round} of ${options.rounds}`);
    const seconds = warmUp ? options.warmUpSeconds : options.roundSeconds;
    for (const [peer, rounds] of results) {
      const measure = async () => {
        await quiet();
        return runRound(peer, seconds, cores.measured, options, signal);
      };
      let result = await measure();
      while (!warmUp && result.foreignShare > DISTURBED_SHARE && repeatsLeft > 0) {
        repeatsLeft -= 1;
        const again = await measure();
        if (again.foreignShare < result.foreignShare) result = again;
      }
      if (!warmUp) rounds.push(result);
      log(
        `  ${peer.name.padEnd(20)} ${result.requestsPerSecond.toFixed(0).padStart(7)}/s ` +
          `${result.cpuUsPerRequest.toFixed(1).padStart(6)} µs`,
      );
    }
  }
  return results;
}
