import { command, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { named } from '../peers/peer.ts';
import { bodies } from './bodies.ts';
import { connections, events, idle } from './connections.ts';
import { grpc, grpcMessages } from './grpc.ts';
import { http2Upstreams } from './http2-upstreams.ts';
import { jwt } from './jwt.ts';
import { printWorkload } from './measure-workload.ts';
import { retries } from './retries.ts';
import { http2, tls } from './tls.ts';
import { websocket } from './websocket.ts';

const ALL = [
  bodies,
  connections,
  idle,
  tls,
  http2,
  http2Upstreams,
  grpc,
  grpcMessages,
  websocket,
  events,
  jwt,
  retries,
];

/** Measures each workload and prints its table. Sets exit code 1 if a request failed. */
export const workloads = command({
  name: 'workloads',
  summary: 'CPU time and rate of the gateway beside other proxies for other kinds of traffic',
  argument: '[names, such as bodies]',
  options: { rounds: whole(5, [1, 100], 'measured rounds; each visits every proxy') },
  async run(run, { rounds }, names) {
    const chosen = named(ALL, names);
    const lab = await startLab(run);
    for (const workload of chosen) await printWorkload(lab, workload, rounds);
  },
});
