import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import { clientAddress, type AddressRanges } from '@gateway/shared/net/client-address';
import { parseTraceparent, type ParentSpan } from '@gateway/shared/opentelemetry/traceparent';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Request, RequestHandler, Response } from 'express';
import type { Authenticator } from './authenticate.ts';
import type { HttpMetrics } from './metrics.ts';
import { loggedPath } from './logged-path.ts';
import { refuseAmbiguousHead } from './refuse-ambiguous-head.ts';
import type { CallTracing } from './trace-calls.ts';
import { exchangeOf, setExchange } from './reply.ts';

export interface ExchangeOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly trustedProxies: AddressRanges;
  readonly log: Logger;
  readonly metrics: HttpMetrics;
  /** undefined: no call is sampled. */
  readonly tracing?: CallTracing | undefined;
}

/** The first middleware: creates the exchange of a call, and logs and counts the call when it ends. */
export function startExchange(options: ExchangeOptions): RequestHandler {
  const { authenticator, clock, newId, trustedProxies } = options;
  return (request, response, next) => {
    const disconnected = new AbortController();
    const address = addressOf(request, trustedProxies);
    const arrivedAtMs = clock.nowMs();
    const parent = parentOf(request);
    const trace = options.tracing?.begin(parent);
    setExchange(response, {
      requestId: newId('req'),
      traceId: (trace ?? parent)?.traceId,
      arrivedMs: clock.monotonicMs(),
      clientAddress: address,
      window: authenticator.allowance(address),
      pattern: undefined,
      tokenId: undefined,
      signal: disconnected.signal,
    });
    response.once('close', () => {
      if (!response.writableFinished) disconnected.abort();
      logCall(request, response, options);
      if (trace !== undefined) options.tracing?.end(trace, request, response, arrivedAtMs);
    });
    refuseAmbiguousHead(request);
    next();
  };
}

/** The caller's place in its trace. undefined: it has none, or its field is malformed. */
function parentOf(request: Request): ParentSpan | undefined {
  const field = request.headers['traceparent'];
  return typeof field === 'string' ? parseTraceparent(field) : undefined;
}

function addressOf(request: Request, trusted: AddressRanges): string {
  const forwarded = request.headers['x-forwarded-for'];
  const field = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
  return clientAddress(request.socket.remoteAddress ?? '', field, trusted);
}

function logCall(request: Request, response: Response, options: ExchangeOptions): void {
  const { requestId, traceId, arrivedMs, pattern = 'unknown', tokenId } = exchangeOf(response);
  const tookMs = options.clock.monotonicMs() - arrivedMs;
  const { method } = request;
  const status = response.writableFinished ? response.statusCode : 0;
  options.metrics.requests.inc({ method, route: pattern, status: String(status) });
  options.metrics.duration.observe({ method, route: pattern }, tookMs / 1000);
  options.log.info(
    {
      method,
      path: loggedPath(request),
      status,
      took_ms: Math.round(tookMs * 10) / 10,
      request_id: requestId,
      trace_id: traceId,
      token_id: tokenId,
    },
    'management call',
  );
}
