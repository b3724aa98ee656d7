import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import type { Lab } from '../lab/lab.ts';
import { scoped } from '../lab/run.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import { measureLoad, type RoundResult } from '../measure/round.ts';
import { takeTurns } from '../measure/turns.ts';
import type { Peer } from '../peers/peer.ts';
import { CERTIFICATE_FILE } from '../peers/servers.ts';
import { log } from '../lab/log.ts';
import { describeRun } from '../report/machine.ts';
import type { Workload, WorkloadLoad } from './workload.ts';
import { formatWorkload, type Measured } from './workload-table.ts';

/** Before each measurement, so that the caches of the CPU hold the data of the row. */
const LEAD_IN_PART = 0.3;
/** V8 compiles code while it runs. */
const WARM_UP_TURNS = 3;

/** Measures a workload and prints its table. Sets exit code 1 if a request failed. */
export async function printWorkload(lab: Lab, workload: Workload, rounds: number): Promise<void> {
  const { table, failed } = formatWorkload(workload, await measure(lab, workload, rounds));
  const run = describeRun(lab.toolVersions, new Date());
  const method = `${workload.description} Medians of the rounds, ${rounds} in all.`;
  process.stdout.write(`${[table, method, run].join('\n\n')}\n\n`);
  if (failed) process.exitCode = 1;
}

function measure(lab: Lab, workload: Workload, rounds: number): Promise<Measured[]> {
  return scoped(lab, async (part) => {
    const upstreamPort =
      workload.upstream === 'nginx' ? part.upstreamPort : (await startNodeUpstream(part)).port;
    const at = { ...part, upstreamPort };
    // ECDSA on P-256.
    const { certPem, keyPem } = createTestAuthority('bench').issue(['127.0.0.1']);
    await writeFile(path.join(at.folder, CERTIFICATE_FILE), `${certPem}\n${keyPem}`);
    const peers: Peer[] = [];
    for (const kind of workload.peers) {
      log(`${workload.name}: starting ${kind.name}`);
      peers.push(await kind.start(at));
    }
    log('warm-up');
    for (const load of workload.loads) {
      for (const peer of peers) await (load.warmUp?.(peer, at) ?? warmUp(load, peer, at));
    }
    const results: Measured[] = [];
    for (const load of workload.loads) {
      const taken = await takeTurns(peers, {
        rounds,
        alternate: true,
        nameOf: ({ name }) => `${load.name}, ${name}`,
        measure: (peer) => measureTurn(load, peer, at, true),
      });
      const [reference = []] = taken.values();
      for (const [{ name: proxy }, taking] of taken) {
        results.push({ load: load.name, proxy, rounds: taking, reference });
      }
    }
    return results;
  });
}

async function warmUp(load: WorkloadLoad, peer: Peer, lab: Lab): Promise<void> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) await measureTurn(load, peer, lab, false);
}

async function measureTurn(
  load: WorkloadLoad,
  peer: Peer,
  lab: Lab,
  isWarm: boolean,
): Promise<RoundResult> {
  const held = await load.open?.(peer, lab);
  const run = (part: number) => {
    const running = held?.run?.(part) ?? load.run?.(peer, part, lab);
    return running ?? Promise.reject(new Error(`${load.name} does nothing`));
  };
  try {
    if (isWarm) await run(LEAD_IN_PART);
    const result = await measureLoad([peer.pid], lab.cores.measured, () => run(1));
    const failed = result.failed + (held?.closed?.() ?? 0);
    return { ...result, failed, ownFigure: held?.ownFigure ?? result.ownFigure };
  } finally {
    held?.release?.();
  }
}
