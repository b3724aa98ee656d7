import type { Clock } from '@gateway/shared/clock';
import { errorBody, type GatewayError } from '@gateway/shared/errors/gateway-error';
import { HEADER } from '@gateway/shared/http/headers';
import type { Response } from 'express';
import { exchangeOf, type Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

type Headers = Record<string, string>;

/** Writes the answers; every response of the management port but a broken request's goes through here. */
export interface Responder {
  /** @param more header fields of this answer alone */
  reply(response: Response, reply: Reply, more?: Headers): void;
  error(response: Response, error: GatewayError): void;
  /** 304: the caller has this representation. */
  notModified(response: Response, etag: string): void;
}

export function createResponder(clock: Clock): Responder {
  function send(response: Response, status: number, headers: Headers, body?: string): void {
    const all = { ...standardHeaders(exchangeOf(response), clock), ...headers };
    if (body !== undefined) {
      all['content-type'] = 'application/json; charset=utf-8';
      all['content-length'] = String(Buffer.byteLength(body));
    }
    // Answers hold what only their caller may see.
    all['cache-control'] ??= 'no-store';
    response.writeHead(status, all).end(body);
  }

  return {
    reply(response, reply, more = {}) {
      const { requestId } = exchangeOf(response);
      switch (reply.kind) {
        case 'one':
        case 'created': {
          const headers: Headers = { ...more };
          if (reply.etag !== undefined) headers['etag'] = reply.etag;
          if (reply.kind === 'created') headers['location'] = reply.location;
          const body = JSON.stringify({ data: reply.data, request_id: requestId });
          send(response, reply.kind === 'created' ? 201 : 200, headers, body);
          break;
        }
        case 'page': {
          const { data, nextCursor } = reply;
          const body = { data, next_cursor: nextCursor, request_id: requestId };
          send(response, 200, {}, JSON.stringify(body));
          break;
        }
        case 'none':
          send(response, 204, more);
          break;
        case 'document':
          send(response, 200, { 'cache-control': 'max-age=300' }, reply.text);
      }
    },
    error(response, { code, status, message, details, headers }) {
      const body = errorBody(code, message, exchangeOf(response).requestId, details);
      send(response, status, { ...headers, [HEADER.gatewayError]: code }, body);
    },
    notModified(response, etag) {
      send(response, 304, { etag });
    },
  };
}

/** What every response carries. */
function standardHeaders(exchange: Exchange, clock: Clock): Headers {
  const { window } = exchange;
  return {
    [HEADER.requestId]: exchange.requestId,
    [HEADER.latency]: String(Math.round(clock.monotonicMs() - exchange.arrivedMs)),
    [HEADER.rateLimitLimit]: String(window.limit),
    [HEADER.rateLimitRemaining]: String(window.remaining),
    [HEADER.rateLimitReset]: String(window.resetSeconds),
  };
}
