import { setTimeout as delay } from 'node:timers/promises';
import { command, whole } from '../command.ts';
import { pinned } from '../lab/cores.ts';
import { startLab } from '../lab/lab.ts';
import { startStack } from '../lab/stack.ts';
import { runWrkWell } from '../load/wrk.ts';
import { ownCpuUsOf } from '../measure/process-tree.ts';
import { measureLoad, type RoundResult } from '../measure/round.ts';
import { median } from '../measure/statistics.ts';
import { takeTurns } from '../measure/turns.ts';
import { untilServed } from '../peers/gateway.ts';
import { oneRoute } from '../peers/gateway-configuration.ts';
import type { Peer } from '../peers/peer.ts';
import { formatCells } from '../report/table.ts';

const TIMEOUT_MS = 240_000;
const WARM_UP_SECONDS = 4;
const SECONDS = 2;
const CONNECTIONS = 64;
const SETTLE_MS = 500;
const LOADS = { 'connections kept': false, 'a connection for each request': true };
const HEAD = [
  'load',
  'workers',
  'requests/s',
  '× one',
  'CPU µs/request',
  'of which primary',
  'p99 ms',
  'resident MB',
];

/** Measures one process and a group of two workers under the same load, alternately, and prints a table. */
export const workers = command({
  name: 'workers',
  summary: 'one process compared with a group of two workers',
  options: { rounds: whole(5, [1, 20], 'measured rounds') },
  async run(run, { rounds }) {
    const lab = await startLab(run, TIMEOUT_MS);
    const { cores, signal } = lab;
    const { stack, controlPlane, client } = await startStack(lab);
    const upstreamUrl = `http://127.0.0.1:${lab.upstreamPort}`;
    const { authorization } = await oneRoute()(client, upstreamUrl, stack.databaseUrl);
    const peers: Peer[] = [];
    for (const count of [1, 2]) {
      const { baseUrl, pid } = await stack.startDataPlane({
        name: `workers-${count}`,
        // Two workers need both cores, so they share one of them with the load.
        launcher: pinned(cores.all.join(',')),
        signal,
        env: { WORKERS: String(count) },
      });
      const peer = { name: String(count), url: `${baseUrl}/v1/proxy/orders`, authorization, pid };
      await untilServed(peer, signal);
      peers.push(peer);
    }
    // Storing records would take CPU time from the measured processes.
    await controlPlane.stop();
    const rows: string[][] = [];
    for (const [name, closing] of Object.entries(LOADS)) {
      const load = (peer: Peer, seconds: number) =>
        measureLoad([peer.pid], cores.measured, async () => {
          const before = ownCpuUsOf(peer.pid);
          const shape = { connections: CONNECTIONS, closing, seconds };
          const outcome = await runWrkWell(peer, shape, signal);
          return { ...outcome, ownFigure: (ownCpuUsOf(peer.pid) - before) / outcome.units };
        });
      for (const peer of peers) await load(peer, WARM_UP_SECONDS);
      const results = await takeTurns(peers, {
        rounds,
        nameOf: (peer) => `${name}, ${peer.name}`,
        measure: (peer) => load(peer, SECONDS),
        quiet: () => delay(SETTLE_MS, undefined, { signal }),
      });
      const [alone = []] = results.values();
      for (const [peer, own] of results) {
        const of = (figure: keyof RoundResult) => median(own.map((one) => one[figure] ?? NaN));
        // Rounds that follow each other are compared, so that a disturbance of the machine hits both.
        const ratios = own.map((round, at) => {
          return round.requestsPerSecond / (alone[at]?.requestsPerSecond ?? NaN);
        });
        rows.push([
          name,
          peer.name,
          of('requestsPerSecond').toFixed(0),
          median(ratios).toFixed(2),
          of('cpuUsPerRequest').toFixed(1),
          peer.name === '1' ? '' : of('ownFigure').toFixed(1),
          (of('p99Us') / 1000).toFixed(1),
          (of('residentBytes') / 1e6).toFixed(0),
        ]);
      }
    }
    process.stdout.write(
      `${formatCells(HEAD, rows)}\n\nMedians of ${rounds} rounds of ${SECONDS} s, ${CONNECTIONS} connections, ` +
        `${cores.all.length} cores, one of which the load, the upstream and NATS share.\n`,
    );
  },
});
