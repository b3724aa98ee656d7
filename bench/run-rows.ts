import type { Cores } from './measure/cores.ts';
import { createQuietWait } from './measure/quiet.ts';
import { runRound, type LoadKind, type RoundResult } from './measure/round.ts';
import type { Peer } from './peers/peer.ts';
import { DISTURBED_SHARE } from './report/row.ts';

/** How many disturbed parts of a round are measured again, over one load of all rows. */
export const MAX_REPEATS = 8;

/** How long one load of all rows waits for quiet. */
export const MAX_QUIET_WAIT_MS = 40_000;

/** Where the rows run, and who is told how it goes. */
export interface RowsRun {
  readonly cores: Cores;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Loads each row for so long, without a figure, until its code is compiled and its connections are open. */
export async function warmUp(peers: readonly Peer[], kind: LoadKind, run: RowsRun): Promise<void> {
  run.log('warm-up');
  for (const peer of peers)
    show(peer, await runRound(peer, kind, run.cores.measured, run.signal), run);
}

/**
 * Visits all rows in each round, one after the other: what disturbs the machine for a while hits all
 * alike.
 */
export async function runRows(
  peers: readonly Peer[],
  kind: LoadKind,
  rounds: number,
  run: RowsRun,
): Promise<ReadonlyMap<Peer, readonly RoundResult[]>> {
  const { cores, signal, log } = run;
  const results = new Map<Peer, RoundResult[]>(peers.map((peer) => [peer, []]));
  const quiet = createQuietWait(cores.all, MAX_QUIET_WAIT_MS, signal);
  let repeatsLeft = MAX_REPEATS;
  const measure = async (peer: Peer) => {
    await quiet();
    return runRound(peer, kind, cores.measured, signal);
  };
  for (let round = 1; round <= rounds; round += 1) {
    log(`round ${round} of ${rounds}${kind.restMs === undefined ? '' : ' at the same load'}`);
    for (const [peer, all] of results) {
      let result = await measure(peer);
      while (result.foreignShare > DISTURBED_SHARE && repeatsLeft > 0) {
        repeatsLeft -= 1;
        const again = await measure(peer);
        if (again.foreignShare < result.foreignShare) result = again;
      }
      all.push(result);
      show(peer, result, run);
    }
  }
  return results;
}

function show({ name }: Peer, result: RoundResult, { log }: RowsRun): void {
  log(
    `  ${name.padEnd(20)} ${result.requestsPerSecond.toFixed(0).padStart(7)}/s ` +
      `${result.cpuUsPerRequest.toFixed(1).padStart(6)} µs`,
  );
}
