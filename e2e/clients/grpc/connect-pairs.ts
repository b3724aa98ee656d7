import type { Observations, Pair } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { openConnectClient, type ConnectProtocol, type HttpVersion } from './clients/connect.ts';
import {
  BROKEN_OFF,
  CANCELLED,
  DEAD,
  GOAWAY,
  makePair,
  SEEN,
  SEEN_BOTH_WAYS,
  SEEN_OF_CONNECTIONS,
  STREAMING,
} from './make-pair.ts';
import { HTTP2_SCENARIOS, SCENARIOS } from './scenarios.ts';
import { startConnectServer } from './servers/connect.ts';

const seen: Observations = {
  ...SEEN,
  [CANCELLED]: '10 messages, then CANCELLED: This operation was aborted, and the server sees it',
};
const seenOverHttp1: Observations = { ...seen, [DEAD]: '10 messages, then ABORTED: aborted' };
const seenOverHttp2: Observations = {
  ...seen,
  ...SEEN_BOTH_WAYS,
  ...SEEN_OF_CONNECTIONS,
  [DEAD]: '10 messages, then CANCELLED: http/2 stream closed with error code CANCEL (0x8)',
  [GOAWAY]: '100 complete, 20 INTERNAL: Stream closed with error code NGHTTP2_REFUSED_STREAM',
};

const otherwiseOverHttp2: Observations = {
  [DEAD]: '10 messages, then INTERNAL: Stream closed with error code NGHTTP2_INTERNAL_ERROR',
  [GOAWAY]: '120 complete',
};
const otherwiseOfGrpc: Observations = { ...otherwiseOverHttp2, [DEAD]: BROKEN_OFF };

/** Connect's client for Node, and its server, by each protocol and version. */
export const connectOverHttp1 = [pair('Connect', '1.1'), pair('gRPC-Web', '1.1')];
export const connectOverHttp2 = [pair('Connect', '2'), pair('gRPC-Web', '2')];
export const grpcOfConnectOverTls = pair('gRPC', '2', { reach: 'host', secure: true });

function pair(
  protocol: ConnectProtocol,
  httpVersion: HttpVersion,
  more: Pick<Pair, 'reach' | 'secure'> = {},
): Pair {
  const overHttp2 = httpVersion === '2';
  return makePair({
    client: 'connect-node',
    version: pinnedVersion('@connectrpc/connect-node'),
    variant: `${protocol}, HTTP/${httpVersion}`,
    connect: ({ url, ca }) => openConnectClient(protocol, httpVersion, url, ca),
    startServer: startConnectServer,
    scenarios: overHttp2 ? HTTP2_SCENARIOS : SCENARIOS,
    ...(overHttp2 && { service: { protocol: 'http2' }, route: STREAMING }),
    direct: overHttp2 ? seenOverHttp2 : seenOverHttp1,
    otherwise: otherwiseOf(protocol, httpVersion),
    ...more,
  });
}

function otherwiseOf(protocol: ConnectProtocol, httpVersion: HttpVersion): Observations {
  if (httpVersion !== '2') return {};
  return protocol === 'gRPC' ? otherwiseOfGrpc : otherwiseOverHttp2;
}
