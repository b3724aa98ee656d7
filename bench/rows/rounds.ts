import type { Cores } from '../lab/cores.ts';
import { createQuietWait } from '../measure/quiet.ts';
import { runRound, type LoadKind, type RoundResult } from '../measure/round.ts';
import type { Peer } from '../peers/peer.ts';
import { DISTURBED_SHARE } from '../report/row.ts';

/** How many disturbed measurements are repeated under one kind of load. */
export const MAX_REPEATS = 8;

/** The longest total wait for a quiet machine under one kind of load. */
export const MAX_QUIET_WAIT_MS = 40_000;

/** Where the rows run, and where progress is printed. */
export interface RowsRun {
  readonly cores: Cores;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** Loads each row without measuring it, until its code is compiled and its connections are open. */
export async function warmUp(peers: readonly Peer[], kind: LoadKind, run: RowsRun): Promise<void> {
  run.log('warm-up');
  for (const peer of peers)
    logResult(peer, await runRound(peer, kind, run.cores.measured, run.signal), run);
}

/** Visits every row in every round, so that a disturbance of the machine hits all rows alike. */
export async function runRounds(
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
      logResult(peer, result, run);
    }
  }
  return results;
}

function logResult({ name }: Peer, result: RoundResult, { log }: RowsRun): void {
  log(
    `  ${name.padEnd(24)} ${result.requestsPerSecond.toFixed(0).padStart(7)}/s ` +
      `${result.cpuUsPerRequest.toFixed(1).padStart(6)} µs`,
  );
}
