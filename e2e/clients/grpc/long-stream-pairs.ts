import type { Pair } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { openConnectClient } from './clients/connect.ts';
import { grpcJs } from './grpc-js-pairs.ts';
import { makePair, type Parts } from './make-pair.ts';
import { BOTH_WAYS_SCENARIOS, SCENARIOS } from './scenarios.ts';
import { startConnectServer } from './servers/connect.ts';
import { startGrpcJsServer } from './servers/grpc-js.ts';

const MESSAGES = 100_000;
const DOWN = 'stream of the server';
const UP = 'stream of the client';
const BOTH = 'stream each way';

const long: Omit<Parts, 'startServer'> = {
  ...grpcJs,
  variant: `${MESSAGES} messages`,
  messages: MESSAGES,
  otherwise: {},
  scenarios: {
    [DOWN]: SCENARIOS[DOWN],
    [UP]: SCENARIOS[UP],
    [BOTH]: BOTH_WAYS_SCENARIOS[BOTH],
  },
  direct: {
    [DOWN]: `${MESSAGES} messages`,
    [UP]: `${MESSAGES} messages, ${7 * MESSAGES} bytes`,
    [BOTH]: `${MESSAGES} messages`,
  },
};

/**
 * Streams of which each takes seconds. Each client calls the server of the other: grpc-js as the client slows down with
 * each message that it sends after a head of the response, and its server sends that at once.
 */
export const longStreamPairs: readonly Pair[] = [
  makePair({ ...long, startServer: startConnectServer }),
  makePair({
    ...long,
    client: 'connect-node',
    version: pinnedVersion('@connectrpc/connect-node'),
    variant: `gRPC, ${MESSAGES} messages`,
    connect: ({ url, ca }) => openConnectClient('gRPC', '2', url, ca),
    startServer: startGrpcJsServer,
  }),
];
