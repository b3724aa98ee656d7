import { runWrk } from '../load/wrk.ts';
import { oneRoute } from './gateway-route.ts';
import { workloadPeers } from './peers.ts';
import type { Workload } from './workload.ts';

const SECONDS = 2;

/** A new TCP connection for each request. */
export const connections: Workload = {
  name: 'connections',
  unit: 'request',
  description:
    'wrk opens a connection for each request, 32 at a time; the connections to the upstream are kept.',
  tools: [],
  upstream: 'nginx',
  peers: workloadPeers({ gateway: { configure: oneRoute() } }),
  loads: [
    {
      name: 'connection per request',
      run: ({ url, authorization }, { part, site: { signal } }) =>
        runWrk({
          url,
          authorization,
          signal,
          closing: true,
          connections: 32,
          seconds: Math.ceil(SECONDS * part),
        }),
    },
  ],
};
