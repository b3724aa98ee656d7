import type { Cores } from '../lab/cores.ts';
import type { Site } from '../lab/site.ts';
import { createQuietWait } from '../measure/quiet.ts';
import { measureLoad, type RoundResult } from '../measure/round.ts';
import type { Peer } from '../peers/peer.ts';
import { log } from '../report/log.ts';
import { DISTURBED_SHARE } from '../report/row.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

export interface WorkloadRun {
  readonly cores: Cores;
  readonly site: Site;
  readonly rounds: number;
}

/** The rounds of each proxy, by the name of the load and of the proxy. */
export type WorkloadResults = ReadonlyMap<string, ReadonlyMap<string, readonly RoundResult[]>>;

/** Before each measurement, so that the caches of the CPU hold the data of the row. */
const LEAD_IN_PART = 0.3;
const MAX_REPEATS = 3;
const MAX_QUIET_WAIT_MS = 10_000;
/** V8 compiles code while it runs; a row is warm when a further turn does not cost less. */
const MAX_WARM_UP_TURNS = 4;
const WARM_SHARE = 0.9;

/** Every round visits all proxies under each load, so that a disturbance of the machine hits all of them alike. */
export async function measureWorkload(
  workload: Workload,
  peers: readonly Peer[],
  { cores, site, rounds }: WorkloadRun,
): Promise<WorkloadResults> {
  const quiet = createQuietWait(cores.all, MAX_QUIET_WAIT_MS, site.signal);
  let repeatsLeft = MAX_REPEATS;
  const measure = async (load: WorkloadLoad, peer: Peer, warm: boolean): Promise<RoundResult> => {
    const held = await load.open?.(peer, site);
    try {
      if (warm) await load.run(peer, { part: LEAD_IN_PART, site });
      const run = () => load.run(peer, { part: 1, site });
      const result = await measureLoad(peer.pid, cores.measured, run);
      const failed = result.failed + (held?.closed?.() ?? 0);
      const ownFigure = held?.ownFigure;
      return { ...result, failed, ...(ownFigure !== undefined && { ownFigure }) };
    } finally {
      held?.release();
    }
  };
  const results = new Map(
    workload.loads.map(({ name }) => {
      return [name, new Map<string, RoundResult[]>(peers.map((peer) => [peer.name, []]))];
    }),
  );
  log('warm-up');
  for (const load of workload.loads) {
    for (const peer of peers) {
      const turns = load.opensWarm === true ? 1 : MAX_WARM_UP_TURNS;
      await warmUp(() => measure(load, peer, false), turns);
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    log(`round ${round} of ${rounds}`);
    for (const load of workload.loads) {
      for (const peer of peers) {
        await quiet();
        let result = await measure(load, peer, true);
        while (result.foreignShare > DISTURBED_SHARE && repeatsLeft > 0) {
          repeatsLeft -= 1;
          const again = await measure(load, peer, true);
          if (again.foreignShare < result.foreignShare) result = again;
        }
        logTurn(load, peer, result);
        results.get(load.name)?.get(peer.name)?.push(result);
      }
    }
  }
  return results;
}

/** Loads a row, at most for so many turns, until a turn does not cost clearly less than the one before. */
async function warmUp(measure: () => Promise<RoundResult>, turns: number): Promise<void> {
  let before = Infinity;
  for (let turn = 0; turn < turns; turn += 1) {
    const { cpuUsPerRequest } = await measure();
    if (cpuUsPerRequest > before * WARM_SHARE) return;
    before = cpuUsPerRequest;
  }
}

function logTurn(load: WorkloadLoad, peer: Peer, result: RoundResult): void {
  log(
    `  ${load.name.padEnd(30)} ${peer.name.padEnd(8)} ` +
      `${result.requestsPerSecond.toFixed(0).padStart(8)}/s ${result.cpuUsPerRequest.toFixed(1).padStart(8)} µs` +
      (result.failed === 0 ? '' : ` ${result.failed} failed`),
  );
}
