import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import { clientAddress, type AddressRanges } from '@gateway/shared/net/client-address';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { Request, RequestHandler, Response } from 'express';
import type { Authenticator } from './authenticate.ts';
import { exchangeOf, setExchange } from './reply.ts';
import type { HttpMetrics } from './metrics.ts';
import { requireOneReading } from './require-one-reading.ts';

export interface ArrivalOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly trustedProxies: AddressRanges;
  readonly log: Logger;
  readonly metrics: HttpMetrics;
}

const MAX_LOGGED_PATH_CHARS = 1024;

/** The first middleware: gives the call its exchange, and notes its end in the log and the metrics. */
export function arrive(options: ArrivalOptions): RequestHandler {
  const { authenticator, clock, newId, trustedProxies } = options;
  return (request, response, next) => {
    const left = new AbortController();
    const address = addressOf(request, trustedProxies);
    setExchange(response, {
      requestId: newId('req'),
      arrivedMs: clock.monotonicMs(),
      clientAddress: address,
      window: authenticator.allowance(address),
      pattern: undefined,
      tokenId: undefined,
      signal: left.signal,
    });
    response.once('close', () => {
      if (!response.writableFinished) left.abort();
      note(request, response, options);
    });
    requireOneReading(request);
    next();
  };
}

function addressOf(request: Request, trusted: AddressRanges): string {
  const forwarded = request.headers['x-forwarded-for'];
  const field = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
  return clientAddress(request.socket.remoteAddress ?? '', field, trusted);
}

function note(request: Request, response: Response, options: ArrivalOptions): void {
  const { requestId, arrivedMs, pattern = 'unknown', tokenId } = exchangeOf(response);
  const tookMs = options.clock.monotonicMs() - arrivedMs;
  const { method } = request;
  const status = response.writableFinished ? response.statusCode : 0;
  options.metrics.requests.inc({ method, route: pattern, status: String(status) });
  options.metrics.duration.observe({ method, route: pattern }, tookMs / 1000);
  options.log.info(
    {
      method,
      path: withoutTokenSecrets(request.path).slice(0, MAX_LOGGED_PATH_CHARS),
      status,
      took_ms: Math.round(tookMs * 10) / 10,
      request_id: requestId,
      token_id: tokenId,
    },
    'management call',
  );
}
