import type { Pair } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { openGrpcJsClient } from './clients/grpc-js.ts';
import {
  BROKEN_OFF,
  CANCELLED,
  DEAD,
  makePair,
  SEEN,
  SEEN_BOTH_WAYS,
  SEEN_OF_CONNECTIONS,
  STREAMING,
  type Parts,
} from './make-pair.ts';
import { HTTP2_SCENARIOS } from './scenarios.ts';
import { startConnectServer } from './servers/connect.ts';
import { startGrpcJsServer } from './servers/grpc-js.ts';

export const grpcJs: Omit<Parts, 'startServer'> = {
  client: 'grpc-js',
  version: pinnedVersion('@grpc/grpc-js'),
  reach: 'host',
  connect: ({ url, ca }) => openGrpcJsClient(url, ca),
  scenarios: HTTP2_SCENARIOS,
  service: { protocol: 'http2' },
  route: STREAMING,
  direct: {
    ...SEEN,
    ...SEEN_BOTH_WAYS,
    ...SEEN_OF_CONNECTIONS,
    [CANCELLED]: '10 messages, then CANCELLED: Cancelled on client, and the server sees it',
    [DEAD]: '10 messages, then UNAVAILABLE: Connection dropped',
  },
  otherwise: { [DEAD]: BROKEN_OFF },
};

/** The official client for Node, and its server. */
export const grpcJsWithItsServer = makePair({
  ...grpcJs,
  variant: 'its own server',
  startServer: startGrpcJsServer,
});

export const grpcJsPairs: readonly Pair[] = [
  makePair({ ...grpcJs, variant: 'TLS', secure: true, startServer: startGrpcJsServer }),
  makePair({ ...grpcJs, variant: 'connect-node as the server', startServer: startConnectServer }),
];
