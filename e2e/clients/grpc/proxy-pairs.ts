import type { Observations, Pair } from '../harness/pair.ts';
import { grpcJs } from './grpc-js-pairs.ts';
import { BROKEN_OFF, DEAD, GOAWAY, makePair } from './make-pair.ts';
import { HTTP2_SCENARIOS } from './scenarios.ts';
import { startBehindProxy, type ProxyName } from './servers/proxies.ts';

/** What a proxy makes of the end of its server in the middle of a response. */
const BROKEN_BY_PROXY: Readonly<Record<ProxyName, string>> = {
  nginx: 'Received RST_STREAM with code 2 (Internal server error)',
  HAProxy: 'Received RST_STREAM with code 0 (Call ended without gRPC status)',
  Caddy: 'Received RST_STREAM with code 0 (Call ended without gRPC status)',
};

/** grpc-js, and its server behind proxies. */
export const proxyPairs: readonly Pair[] = [pair('nginx'), pair('HAProxy'), pair('Caddy')];

function pair(name: ProxyName): Pair {
  const { [GOAWAY]: goAway, ...others } = HTTP2_SCENARIOS;
  // Caddy answers some of the calls with 502 that the server has not begun.
  const scenarios = { ...others, ...(name !== 'Caddy' && { [GOAWAY]: goAway }) };
  const direct: Observations = {
    ...grpcJs.direct,
    [DEAD]: `10 messages, then INTERNAL: ${BROKEN_BY_PROXY[name]}`,
  };
  return makePair({
    ...grpcJs,
    variant: `${name} before the server`,
    startServer: () => startBehindProxy(name),
    scenarios,
    // nginx resets the call. For the gateway the response of the others is complete.
    otherwise: name === 'nginx' ? { [DEAD]: BROKEN_OFF } : {},
    direct: Object.fromEntries(Object.entries(direct).filter(([what]) => what in scenarios)),
  });
}
