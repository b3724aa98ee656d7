import { h2Load } from './load/h2load.ts';
import { tlsConnections } from './load/tls-connections.ts';
import { proxies, type Workload, type WorkloadLoad } from './workload.ts';

const HANDSHAKES = 800;
const REQUESTS = 8_000;
const HTTP2 = { requests: REQUESTS, version: 'http2' } as const;
/** The load of HTTP/2 that the rows of HTTP/2 upstreams share. */
export const FOUR_BY_HUNDRED = {
  ...HTTP2,
  name: '4 × 100 streams',
  connections: 4,
  streams: 100,
} as const;

/** TLS 1.3 to the callers, with a certificate of an ECDSA key on P-256. */
export const tls: Workload = {
  name: 'tls',
  unit: 'request',
  description:
    'TLS 1.3, a certificate with an ECDSA key (P-256), HTTP/1.1. _New_: each request opens a connection with a full ' +
    'handshake, 8 at a time. _Resumed_: the same with the session of the connection before. _Kept_: h2load over 32 ' +
    'connections that stay open.',
  upstream: 'nginx',
  peers: proxies({ secure: true }),
  loads: [
    handshakes('new', false),
    handshakes('resumed', true),
    h2Load({ name: 'kept', requests: REQUESTS, connections: 32, version: 'http1' }),
  ],
};

/** HTTP/2 over TLS; to the upstream all proxies speak HTTP/1.1. */
export const http2: Workload = {
  name: 'http2',
  unit: 'request',
  description:
    'h2load sends GETs over TLS 1.3, over 4 connections with 100 streams each and over 32 with one.',
  upstream: 'nginx',
  peers: proxies({ secure: true }),
  loads: [h2Load(FOUR_BY_HUNDRED), h2Load({ ...HTTP2, name: '32 × 1 stream', connections: 32 })],
};

function handshakes(name: string, resumed: boolean): WorkloadLoad {
  return {
    name,
    run(peer, part, { signal }) {
      const requests = Math.round(HANDSHAKES * part);
      return tlsConnections({ ...peer, resumed, requests, parallel: 8, signal });
    },
  };
}
