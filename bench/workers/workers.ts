import { command, whole } from '../command.ts';
import { pinned } from '../lab/cores.ts';
import { startLab } from '../lab/lab.ts';
import { runWrkWell } from '../load/wrk.ts';
import { ownCpuUsOf } from '../measure/process-tree.ts';
import { gateway } from '../peers/gateway.ts';
import { printWorkload } from '../workloads/measure-workload.ts';
import type { Workload, WorkloadLoad } from '../workloads/workload.ts';

const CONNECTIONS = 64;
const SECONDS = 2;

/** The figure of its own is the CPU time of the process itself, without that of its workers. */
const load = (name: string, closing: boolean): WorkloadLoad => ({
  name,
  async run(peer, part, { signal }) {
    const before = ownCpuUsOf(peer.pid);
    const shape = { connections: CONNECTIONS, closing, seconds: Math.ceil(SECONDS * part) };
    const outcome = await runWrkWell(peer, shape, signal);
    return { ...outcome, ownFigure: (ownCpuUsOf(peer.pid) - before) / outcome.units };
  },
});

const GROUPS: Workload = {
  name: 'workers',
  unit: 'request',
  description:
    `${CONNECTIONS} connections. One core has the load, the upstream and NATS too, because two workers need both. ` +
    '_Of which primary_: CPU time of the first process of the row.',
  upstream: 'nginx',
  reference: '1 process',
  ownFigure: { head: 'of which primary', format: (us) => us.toFixed(1) },
  peers: ['1 process', '2 workers'].map((name) =>
    gateway({
      name,
      settings: () => ({ WORKERS: name.slice(0, 1) }),
      launcher: ({ cores }) => pinned(cores.all.join(',')),
    }),
  ),
  loads: [load('connections kept', false), load('a connection for each request', true)],
};

/** Measures one process and a group of two workers under the same load, alternately, and prints a table. */
export const workers = command({
  name: 'workers',
  summary: 'one process compared with a group of two workers',
  options: { rounds: whole(5, [1, 20], 'measured rounds') },
  async run(run, { rounds }) {
    await printWorkload(await startLab(run), GROUPS, rounds);
  },
});
