import { oneRoute } from './gateway-route.ts';
import { runH2Load } from './load/h2load.ts';
import { tlsConnections } from './load/tls-connections.ts';
import { workloadPeers } from './peers.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

const HANDSHAKES = 800;
const KEPT_REQUESTS = 8_000;

/** TLS 1.3 to the callers, with a certificate of an ECDSA key on P-256. */
export const tls: Workload = {
  name: 'tls',
  unit: 'request',
  description:
    'TLS 1.3, a certificate with an ECDSA key (P-256), HTTP/1.1. _New_: each request opens a connection with a full ' +
    'handshake, 8 at a time. _Resumed_: the same with the session of the connection before. _Kept_: h2load over 32 ' +
    'connections that stay open.',
  tools: ['h2load'],
  upstream: 'nginx',
  peers: workloadPeers({ secure: true, gateway: { configure: oneRoute() } }),
  loads: [
    handshakes('new', false),
    handshakes('resumed', true),
    {
      name: 'kept',
      run: ({ url, authorization }, { part, site: { folder, signal } }) =>
        runH2Load({
          url,
          authorization,
          requests: Math.round(KEPT_REQUESTS * part),
          connections: 32,
          version: 'http1',
          folder,
          signal,
        }),
    },
  ],
};

function handshakes(name: string, resumed: boolean): WorkloadLoad {
  return {
    name,
    run: ({ url, authorization }, { part, site: { signal } }) =>
      tlsConnections({
        url,
        authorization,
        resumed,
        requests: Math.round(HANDSHAKES * part),
        parallel: 8,
        signal,
      }),
  };
}
