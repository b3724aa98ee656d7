import { choiceField } from './fields.ts';

export const UPSTREAM_PROTOCOLS = ['http1', 'http2', 'auto'] as const;

/** The version of HTTP in which data planes send requests to the upstreams of a service. */
export type UpstreamProtocol = (typeof UPSTREAM_PROTOCOLS)[number];

export const upstreamProtocolField = choiceField(UPSTREAM_PROTOCOLS, {
  http1: 'HTTP/1.1',
  http2: 'HTTP/2',
  auto: 'HTTP/2 if the upstream chooses it',
})
  .default('http1')
  .meta({
    title: 'Protocol',
    description:
      'The version of HTTP to the upstreams. `http1`: HTTP/1.1. `http2`: HTTP/2; an `https` upstream must choose it in the TLS handshake, an `http` upstream must know it without asking. `auto`: an `https` upstream chooses in the TLS handshake, an `http` upstream gets HTTP/1.1.',
    examples: ['http2'],
  });
