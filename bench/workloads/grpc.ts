import { GRPC } from '../lab/grpc-message.ts';
import { ROW_PATH, startGrpcMessages, startHttp2Upstream } from '../lab/http2-upstream.ts';
import type { Lab } from '../lab/lab.ts';
import type { Peer } from '../peers/peer.ts';
import { http2Gateway, http2Peers } from '../peers/variants.ts';
import {
  grpcMessages as sendMessages,
  grpcStatusOf,
  type Direction,
} from './load/grpc-messages.ts';
import { h2Load } from './load/h2load.ts';
import { FOUR_BY_HUNDRED } from './tls.ts';
import type { Workload, WorkloadLoad } from './workload.ts';

/** As the bodies of the rows. */
const BODY_BYTES = 80;
const PLAIN = 'gateway, 80 bytes';
/** What answers without trailers. */
const plain = { upstream: (lab: Lab) => startHttp2Upstream(lab), path: ROW_PATH };
const isGrpc = ({ name }: Peer) => name.includes('gRPC');

/** Unary calls, beside plain requests with a body of the same size. */
export const grpc: Workload = {
  name: 'grpc',
  unit: 'request',
  description:
    'h2load posts 80 bytes over TLS 1.3, over 4 connections with 100 streams each; nghttpd answers over HTTP/2 without ' +
    'TLS. _gRPC_: as a unary call, whose status comes in trailers; otherwise without them. nginx has `grpc_pass`. What the ' +
    'interval of the gateway _again_ holds cannot be told from 1.',
  upstream: 'nginx',
  reference: PLAIN,
  peers: [
    http2Gateway(PLAIN, plain),
    http2Gateway(`${PLAIN} again`, plain),
    ...http2Peers(
      { gateway: 'gateway, gRPC', nginx: 'nginx, gRPC', haproxy: 'HAProxy, gRPC' },
      {
        upstream: (lab) => startHttp2Upstream(lab, 'grpc-status: 0'),
        path: ROW_PATH,
        check: answersGrpc,
      },
    ),
  ],
  loads: [
    h2Load({
      ...FOUR_BY_HUNDRED,
      bodyBytes: BODY_BYTES,
      headers: (peer) => (isGrpc(peer) ? [`content-type: ${GRPC}`, 'te: trailers'] : []),
    }),
  ],
};

/** Streams of messages. */
export const grpcMessages: Workload = {
  name: 'grpc-messages',
  unit: 'message',
  description:
    'Messages of 100 bytes over TLS 1.3, over 4 connections with 25 calls of gRPC each, each message in a frame of its own; ' +
    'client and upstream are of node:http2. _Server_: the upstream sends all of them; p50 and p99 are those of a whole ' +
    'call. _Both_: each call has one message under way, which the upstream sends back: a message passes the proxy twice.',
  upstream: 'nginx',
  peers: http2Peers(
    { nginx: 'nginx', haproxy: 'HAProxy', gateway: 'gateway' },
    {
      upstream: startGrpcMessages,
      path: ROW_PATH,
      route: { streaming: true },
      check: answersGrpc,
    },
  ),
  loads: [messages('server', 'server', 40_000), messages('both', 'both', 10_000)],
};

/** @throws if a call does not end with the status of its upstream */
async function answersGrpc(peer: Peer): Promise<void> {
  const status = await grpcStatusOf(peer);
  if (status !== '0') throw new Error(`${peer.name}: grpc-status ${status ?? 'is missing'}`);
}

function messages(name: string, direction: Direction, count: number): WorkloadLoad {
  return {
    name,
    run(peer, part, { signal }) {
      const load = { direction, connections: 4, streams: 25, signal };
      return sendMessages(peer, { ...load, messages: Math.round(count * part) });
    },
  };
}
