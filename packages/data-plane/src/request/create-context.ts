import { TLSSocket } from 'node:tls';
import { authorityOf } from '@gateway/shared/http/host';
import type { IdPrefix } from '@gateway/shared/ids';
import {
  clientAddress,
  normaliseAddress,
  type AddressRanges,
} from '@gateway/shared/net/client-address';
import type { CallerRequest, CallerResponse } from './caller.ts';
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
 *
 * @param continued where to send `100 Continue` if the caller waits for it; undefined: nowhere
 */
export function createContext(
  request: CallerRequest,
  continued: Pick<CallerResponse, 'writeContinue'> | undefined,
  path: string,
  query: string,
  options: ContextOptions,
): RequestContext {
  const { clock, trustedProxies } = options;
  const receivedAtMs = clock.nowMs();
  const { framing } = request;
  const inbound = parseInboundHeaders(request.fields);
  const peerAddress = normaliseAddress(request.socket.remoteAddress ?? '');
  // HTTP/1.0 has no interim responses (RFC 9110 section 10.1.1).
  const awaitsContinue = inbound.expectContinue && request.httpVersion !== '1.0';
  const startedMs = clock.monotonicMs();
  const times = new TimeAccount(startedMs);
  const body =
    framing.kind === 'none'
      ? EMPTY_BODY
      : new IncomingBody(request, awaitsContinue ? continued : undefined, times, options);
  return new RequestContext({
    id: options.makeId('req', receivedAtMs),
    receivedAtMs,
    startedMs,
    times,
    method: request.method,
    httpVersion: request.httpVersion,
    authority: authorityOf(request.url),
    target: parseProxyTarget(path, query),
    inbound,
    framing,
    body,
    peerAddress,
    clientIp: clientAddress(peerAddress, inbound.forwardedFor, trustedProxies),
    fromTrustedProxy: trustedProxies.texts.length > 0 && trustedProxies.has(peerAddress),
    protocol: request.socket instanceof TLSSocket ? 'https' : 'http',
    trace: options.trace(inbound.traceparent, inbound.tracestate),
    table: options.table(),
  });
}
