import { command, names, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { runWrk } from '../load/wrk.ts';
import { gatewayRows } from '../peers/gateway.ts';
import { nodeProxies } from '../peers/node-proxies.ts';
import { named } from '../peers/peer.ts';
import { caddy, haproxy, nginx } from '../peers/servers.ts';
import { printWorkload } from './measure-workload.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

/**
 * Pause of a connection between its requests at the same load, ms: 32 connections then send nearly 4000
 * requests/s, far fewer than a data plane can answer on one core.
 */
const REST_MS = '4-12';
/** A round at the same load is this many times as long, because the kernel accounts in steps of 10 ms. */
export const SAME_LOAD_FACTOR = 3;
/** Load before each measurement. */
export const LEAD_IN_SECONDS = 2;

/** The rows under both loads; nginx is always the first of them, because every ratio is taken against it. */
export const rows = command({
  name: 'rows',
  summary: 'CPU time, rate and latency of the gateway beside other proxies (the default)',
  options: {
    rounds: whole(7, [1, 100], 'measured rounds; each visits every row once'),
    roundSeconds: whole(1, [1, 60], 'length of a round under full load'),
    warmUpSeconds: whole(10, [1, 60], 'load on each row before the first round'),
    connections: whole(32, [1, 1000], 'connections of the load'),
    only: names('measure these rows and nginx, such as gateway,floor'),
  },
  async run(run, { rounds, roundSeconds, warmUpSeconds, connections, only }) {
    const load = (name: string, seconds: number, restMs?: string): WorkloadLoad => ({
      name,
      run: (peer, part, { signal }) => {
        const shape = { connections, restMs, seconds: part < 1 ? LEAD_IN_SECONDS : seconds };
        return runWrk(peer, shape, signal);
      },
      // The load of saturation warms up for both.
      warmUp: (peer, { signal }) =>
        restMs === undefined
          ? runWrk(peer, { connections, seconds: warmUpSeconds }, signal)
          : Promise.resolve(),
    });
    const workload: Workload = {
      name: 'rows',
      unit: 'request',
      description:
        `${connections} connections, which send as many requests as each row answers (saturation), or rest ` +
        `${REST_MS} ms between their requests (same load). Each round has ${roundSeconds} s of the one and ` +
        `${roundSeconds * SAME_LOAD_FACTOR} s of the other, each after ${LEAD_IN_SECONDS} s of the same.`,
      upstream: 'nginx',
      peers: chooseRows(only),
      loads: [
        load('saturation', roundSeconds),
        load('same load', roundSeconds * SAME_LOAD_FACTOR, REST_MS),
      ],
    };
    await printWorkload(await startLab(run), workload, rounds);
  },
});

/** nginx and the rows with these names, or all. @throws {StartError} if there is no such row */
export function chooseRows(only: readonly string[]) {
  const [reference, ...others] = [nginx(), haproxy(), caddy(), ...nodeProxies, ...gatewayRows()];
  const chosen = named([reference, ...others], only);
  return [reference, ...chosen.filter((kind) => kind !== reference)];
}
