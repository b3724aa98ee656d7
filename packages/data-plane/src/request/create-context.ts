import { authorityOf } from '@gateway/shared/http/host';
import type { IdPrefix } from '@gateway/shared/ids';
import {
  clientAddress,
  normaliseAddress,
  type AddressRanges,
} from '@gateway/shared/net/client-address';
import type { ServerExchange } from '@gateway/http/exchange';
import { RequestContext } from './context.ts';
import { parseInboundHeaders } from './inbound-headers.ts';
import { parseProxyTarget } from './proxy-path.ts';
import { EMPTY_BODY } from './request-body.ts';
import { TimeAccount } from './time-account.ts';
import type { Tracer } from '../tracing/trace-context.ts';
import type { RoutingTable } from '../routing-table/routing-table.ts';
import { IncomingBody, type IncomingBodyOptions } from './incoming-body.ts';

export interface ContextOptions extends IncomingBodyOptions {
  readonly makeId: (prefix: IdPrefix, atMs: number) => string;
  readonly trace: Tracer;
  readonly trustedProxies: AddressRanges;
  readonly table: () => RoutingTable;
}

/**
 * Creates the context of a new request. It refuses nothing: the first stage refuses bad requests, so
 * that a refused request has a record too.
 */
export function createContext(
  exchange: ServerExchange,
  path: string,
  query: string,
  options: ContextOptions,
): RequestContext {
  const { clock, trustedProxies } = options;
  const receivedAtMs = clock.nowMs();
  const { head, connection } = exchange;
  const { framing } = head;
  const inbound = parseInboundHeaders(head.fields);
  const peerAddress = normaliseAddress(connection.address);
  // HTTP/1.0 has no interim responses (RFC 9110 section 10.1.1).
  const awaitsContinue = inbound.expectContinue && head.httpVersion !== '1.0';
  const startedMs = clock.monotonicMs();
  const times = new TimeAccount(startedMs);
  const body =
    framing.kind === 'none'
      ? EMPTY_BODY
      : new IncomingBody(exchange, awaitsContinue, times, options);
  return new RequestContext({
    id: options.makeId('req', receivedAtMs),
    receivedAtMs,
    startedMs,
    times,
    method: head.method,
    httpVersion: head.httpVersion,
    authority: authorityOf(head.url),
    target: parseProxyTarget(path, query),
    inbound,
    framing,
    body,
    peerAddress,
    clientIp: clientAddress(peerAddress, inbound.forwardedFor, trustedProxies),
    fromTrustedProxy: trustedProxies.texts.length > 0 && trustedProxies.has(peerAddress),
    protocol: connection.isSecure ? 'https' : 'http',
    trace: options.trace(inbound.traceparent, inbound.tracestate),
    table: options.table(),
  });
}
