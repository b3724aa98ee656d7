import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import type { Lab } from '../lab/lab.ts';
import { scoped } from '../lab/run.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import { createQuietWait } from '../measure/quiet.ts';
import { measureLoad, type RoundResult } from '../measure/round.ts';
import { takeTurns } from '../measure/turns.ts';
import type { Peer } from '../peers/peer.ts';
import { CERTIFICATE_FILES } from '../peers/servers.ts';
import { log } from '../lab/log.ts';
import { describeRun } from '../report/machine.ts';
import type { Workload, WorkloadLoad } from './workload.ts';
import { formatWorkload, type WorkloadResults } from './workload-table.ts';

const START_MS = 240_000;
const TURN_MS = 20_000;
/** Before each measurement, so that the caches of the CPU hold the data of the row. */
const LEAD_IN_PART = 0.3;
/** One measurement in ten may be repeated. */
const REPEATED_SHARE = 0.1;
/** The waits for a quiet machine may take this long for each measurement. */
const QUIET_MS = 500;
/** V8 compiles code while it runs; a row is warm when a further turn does not cost less. */
const MAX_WARM_UP_TURNS = 4;
const WARM_SHARE = 0.9;

/** The longest that a workload may take on a machine that others use all the time. */
export function limitMs({ peers, loads }: Workload, rounds: number): number {
  return START_MS + peers.length * loads.length * (rounds + 1) * TURN_MS;
}

/** Measures a workload and prints its table. Sets exit code 1 if a request failed. */
export async function printWorkload(lab: Lab, workload: Workload, rounds: number): Promise<void> {
  const { table, failed } = formatWorkload(workload, await measure(lab, workload, rounds));
  const run = await describeRun(workload.peers, new Date());
  const method = `${workload.description} Medians of the rounds, ${rounds} in all.`;
  process.stdout.write(`${[table, method, run].join('\n\n')}\n\n`);
  if (failed) process.exitCode = 1;
}

function measure(lab: Lab, workload: Workload, rounds: number): Promise<WorkloadResults> {
  return scoped(lab, async (part) => {
    const upstreamPort =
      workload.upstream === 'nginx' ? part.upstreamPort : (await startNodeUpstream(part)).port;
    const at = { ...part, upstreamPort };
    await writeCertificate(at.folder);
    const peers: Peer[] = [];
    for (const kind of workload.peers) {
      log(`${workload.name}: starting ${kind.name}`);
      peers.push(await kind.start(at));
    }
    log('warm-up');
    for (const load of workload.loads) {
      for (const peer of peers) await (load.warmUp?.(peer, at) ?? warmUp(load, peer, at));
    }
    const results = new Map<string, ReadonlyMap<string, readonly RoundResult[]>>();
    for (const load of workload.loads) {
      const turns = peers.length * rounds;
      const taken = await takeTurns(peers, {
        rounds,
        nameOf: ({ name }) => `${load.name}, ${name}`,
        measure: (peer) => measureTurn(load, peer, at, true),
        quiet: createQuietWait(at.cores.all, turns * QUIET_MS, at.signal),
        repeats: Math.ceil(turns * REPEATED_SHARE),
      });
      results.set(load.name, new Map([...taken].map(([{ name }, all]) => [name, all])));
    }
    return results;
  });
}

async function measureTurn(
  load: WorkloadLoad,
  peer: Peer,
  lab: Lab,
  isWarm: boolean,
): Promise<RoundResult> {
  const held = await load.open?.(peer, lab);
  try {
    if (isWarm) await load.run(peer, LEAD_IN_PART, lab);
    const result = await measureLoad([peer.pid], lab.cores.measured, () => load.run(peer, 1, lab));
    const failed = result.failed + (held?.closed?.() ?? 0);
    const ownFigure = held?.ownFigure;
    return { ...result, failed, ...(ownFigure !== undefined && { ownFigure }) };
  } finally {
    held?.release();
  }
}

async function warmUp(load: WorkloadLoad, peer: Peer, lab: Lab): Promise<void> {
  let before = Infinity;
  for (let turn = 0; turn < MAX_WARM_UP_TURNS; turn += 1) {
    const { cpuUsPerRequest } = await measureTurn(load, peer, lab, false);
    if (cpuUsPerRequest > before * WARM_SHARE) return;
    before = cpuUsPerRequest;
  }
}

/** Writes a certificate for 127.0.0.1 (ECDSA on P-256) into a folder. */
async function writeCertificate(folder: string): Promise<void> {
  const { certPem, keyPem } = createTestAuthority('bench').issue(['127.0.0.1']);
  const { certificate, key, both } = CERTIFICATE_FILES;
  const texts = { [certificate]: certPem, [key]: keyPem, [both]: `${certPem}\n${keyPem}` };
  for (const [name, text] of Object.entries(texts)) await writeFile(path.join(folder, name), text);
}
