import { oneRoute } from './gateway-route.ts';
import { runH2Load } from './load/h2load.ts';
import { workloadPeers } from './peers.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

const REQUESTS = 8_000;

/** HTTP/2 over TLS; to the upstream all proxies speak HTTP/1.1. */
export const http2: Workload = {
  name: 'http2',
  unit: 'request',
  description:
    'h2load sends GETs over TLS 1.3, over 4 connections with 100 streams each and over 32 with one.',
  tools: ['h2load'],
  upstream: 'nginx',
  peers: workloadPeers({ secure: true, gateway: { configure: oneRoute() } }),
  loads: [http2Load(4, 100), http2Load(32, 1)],
};

function http2Load(connections: number, streams: number): WorkloadLoad {
  return {
    name: `${connections} × ${streams} ${streams === 1 ? 'stream' : 'streams'}`,
    run: ({ url, authorization }, { part, site: { folder, signal } }) =>
      runH2Load({
        url,
        authorization,
        connections,
        streams,
        requests: Math.round(REQUESTS * part),
        version: 'http2',
        folder,
        signal,
      }),
  };
}
