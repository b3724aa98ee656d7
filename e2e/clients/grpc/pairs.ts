import type { Pair } from '../harness/pair.ts';
import { filePairs } from '../http2/files.ts';
import { messagePair } from '../http2/messages.ts';
import { connectOverHttp1, connectOverHttp2, grpcOfConnectOverTls } from './connect-pairs.ts';
import { grpcJsPairs, grpcJsWithItsServer } from './grpc-js-pairs.ts';
import { longStreamPairs } from './long-stream-pairs.ts';
import { programPairs } from './program-pairs.ts';
import { proxyPairs } from './proxy-pairs.ts';

/** Pairs of a gateway that serves HTTP/2 with and without TLS: each protocol once. */
export const OVER_HTTP2: readonly Pair[] = [
  ...connectOverHttp1,
  grpcOfConnectOverTls,
  grpcJsWithItsServer,
  messagePair,
];

/** Those that need programs of the system, or minutes. */
export const OVER_HTTP2_LONG: readonly Pair[] = [
  ...connectOverHttp2,
  ...grpcJsPairs,
  ...programPairs,
  ...proxyPairs,
  ...longStreamPairs,
  ...filePairs,
];
