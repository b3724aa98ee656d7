import { ROW_PATH, startHttp2Upstream } from '../lab/http2-upstream.ts';
import { gateway } from '../peers/gateway.ts';
import { haproxy, nginx } from '../peers/servers.ts';
import { http2Peers, variant } from '../peers/variants.ts';
import { h2Load } from './load/h2load.ts';
import { FOUR_BY_HUNDRED } from './tls.ts';
import type { Workload } from './workload.ts';

const options = { secure: true };

/** HTTP/2 on both sides, beside the same load with HTTP/1.1 to the upstream. */
export const http2Upstreams: Workload = {
  name: 'http2-upstreams',
  unit: 'request',
  description:
    'h2load sends GETs over TLS 1.3, over 4 connections with 100 streams each. The upstream gets HTTP/1.1 (nginx), or ' +
    'HTTP/2 without TLS (nghttpd). nginx has HTTP/2 to upstreams only for `grpc_pass`, and one request at a time on each ' +
    'connection. _nginx again_ is a second nginx: what its interval holds cannot be told from 1.',
  upstream: 'nginx',
  peers: [
    nginx(options),
    variant(nginx(options), { name: 'nginx again' }),
    haproxy(options),
    gateway(options),
    ...http2Peers(
      {
        nginx: 'nginx, grpc_pass',
        haproxy: 'HAProxy, HTTP/2 upstream',
        gateway: 'gateway, HTTP/2 upstream',
      },
      { upstream: (lab) => startHttp2Upstream(lab), path: ROW_PATH },
    ),
  ],
  loads: [h2Load(FOUR_BY_HUNDRED)],
};
