import { ForkedUpstreams } from '../lab/forked-upstreams.ts';
import { withLab, type Lab } from '../lab/lab.ts';
import { UndoList } from '@gateway/shared/test/undo-list';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { log } from '../report/log.ts';
import { describeRun } from '../report/machine.ts';
import { namedWorkloads } from './all.ts';
import { writeCertificate } from './certificate.ts';
import { measureWorkload } from './measure-workload.ts';
import type { Workload } from './workload.ts';
import { formatWorkload } from './workload-table.ts';

/** What `npm run bench -- workloads` is given. */
export interface WorkloadsOptions {
  /** Names of the workloads; empty: all of them. */
  readonly names: readonly string[];
  /** Measured rounds; each visits every proxy once under every load. */
  readonly rounds: number;
  /** Whether docs/understand/benchmarks.md gets the tables. */
  readonly write: boolean;
}

const START_MS = 120_000;
const TURN_MS = 20_000;

/** Measures each workload and prints its table. Sets exit code 1 if a request failed. */
export async function runWorkloads({ names, rounds, write }: WorkloadsOptions): Promise<void> {
  const workloads = namedWorkloads(names);
  const tools = workloads.flatMap((one) => [
    ...one.tools,
    ...one.peers.flatMap(({ needs }) => needs ?? []),
  ]);
  const turns = workloads.reduce((sum, { peers, loads }) => sum + peers.length * loads.length, 0);
  const limitMs = workloads.length * START_MS + turns * (rounds + 1) * TURN_MS;
  await withLab(
    limitMs,
    async (lab) => {
      for (const workload of workloads) {
        const { text, failed } = await runWorkload(lab, workload, rounds);
        process.stdout.write(`${text}\n\n`);
        if (failed) process.exitCode = 1;
        else if (write) await writeSection(BENCHMARKS, `workload ${workload.name}`, text);
      }
    },
    [...new Set(tools)],
  );
}

async function runWorkload(lab: Lab, workload: Workload, rounds: number) {
  const undo = new UndoList();
  const script = new URL('upstream/upstream-process.ts', import.meta.url);
  const upstreams = new ForkedUpstreams(script, lab.site.signal);
  undo.add(() => upstreams.stop());
  try {
    const upstreamPort =
      workload.upstream === 'nginx'
        ? lab.site.upstreamPort
        : Number(new URL((await upstreams.start()).url).port);
    const site = { ...lab.site, upstreamPort };
    await writeCertificate(site.folder);
    const peers = [];
    for (const kind of workload.peers) {
      log(`${workload.name}: starting ${kind.name}`);
      const peer = await kind.start(site);
      undo.add(peer.stop);
      peers.push(peer);
    }
    const results = await measureWorkload(workload, peers, { ...lab, site, rounds });
    const { table, failed } = formatWorkload(workload, results);
    const method = `${workload.description} ${rounds === 1 ? 'One round.' : `Medians of ${rounds} rounds.`}`;
    const run = await describeRun(workload.peers, new Date());
    return { text: [table, method, run].join('\n\n'), failed };
  } finally {
    await undo.run();
  }
}
