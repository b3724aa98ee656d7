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

export const WEBSOCKET_PROTOCOLS = ['http1', 'http2'] as const;

/** The version of HTTP in which data planes open WebSockets to the upstreams of a service. */
export type WebSocketProtocol = (typeof WEBSOCKET_PROTOCOLS)[number];

export const websocketProtocolField = choiceField(WEBSOCKET_PROTOCOLS, {
  http1: 'HTTP/1.1',
  http2: 'HTTP/2',
})
  .default('http1')
  .meta({
    title: 'WebSocket protocol',
    description:
      'The version of HTTP in which WebSockets to the upstreams are opened. `http1`: with `Upgrade`, each over an HTTP/1.1 connection of its own. `http2`: with extended CONNECT (RFC 8441), over the HTTP/2 connections of the other requests; `protocol` must not be `http1`.',
    examples: ['http2'],
  });

/** A service without HTTP/2 has no connection for its WebSockets. */
export const WEBSOCKETS_NEED_HTTP2 = 'must be http1 while protocol is http1';

/** What is wrong with `websocket_protocol`, if anything. */
export function websocketProtocolFault(service: {
  readonly protocol: UpstreamProtocol;
  readonly websocket_protocol: WebSocketProtocol;
}): string | undefined {
  if (service.websocket_protocol === 'http1' || service.protocol !== 'http1') return undefined;
  return WEBSOCKETS_NEED_HTTP2;
}
