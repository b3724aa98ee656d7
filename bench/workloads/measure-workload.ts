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
const MAX_REPEATS = 6;
const MAX_QUIET_WAIT_MS = 15_000;

/** Every round visits all proxies under each load, so that a disturbance of the machine hits all of them alike. */
export async function measureWorkload(
  workload: Workload,
  peers: readonly Peer[],
  { cores, site, rounds }: WorkloadRun,
): Promise<WorkloadResults> {
  const quiet = createQuietWait(cores.all, MAX_QUIET_WAIT_MS, site.signal);
  let repeatsLeft = MAX_REPEATS;
  const measure = async (load: WorkloadLoad, peer: Peer): Promise<RoundResult> => {
    await load.run(peer, { part: LEAD_IN_PART, site });
    return measureLoad(peer.pid, cores.measured, () => load.run(peer, { part: 1, site }));
  };
  const results = new Map(
    workload.loads.map(({ name }) => {
      return [name, new Map<string, RoundResult[]>(peers.map((peer) => [peer.name, []]))];
    }),
  );
  for (let round = 0; round <= rounds; round += 1) {
    log(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
    for (const load of workload.loads) {
      for (const peer of peers) {
        if (round > 0) await quiet();
        let result = await measure(load, peer);
        while (round > 0 && result.foreignShare > DISTURBED_SHARE && repeatsLeft > 0) {
          repeatsLeft -= 1;
          const again = await measure(load, peer);
          if (again.foreignShare < result.foreignShare) result = again;
        }
        logTurn(load, peer, result);
        if (round > 0) results.get(load.name)?.get(peer.name)?.push(result);
      }
    }
  }
  return results;
}

function logTurn(load: WorkloadLoad, peer: Peer, result: RoundResult): void {
  log(
    `  ${load.name.padEnd(26)} ${peer.name.padEnd(8)} ` +
      `${result.requestsPerSecond.toFixed(0).padStart(8)}/s ${result.cpuUsPerRequest.toFixed(1).padStart(8)} µs` +
      (result.failed === 0 ? '' : ` ${result.failed} failed`),
  );
}
