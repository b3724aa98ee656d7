import type { Clock } from '@gateway/shared/clock';
import { errorContent } from '@gateway/shared/errors/error-content';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { HEADER } from '@gateway/shared/http/headers';
import type { Response } from 'express';
import { MAX_WAIT_SECONDS, preferredWait } from '../data-planes/prefer-wait.ts';
import type { RolloutWaits } from '../data-planes/rollout-waits.ts';

/** The state of a management call from its arrival to its end. */
export interface Exchange {
  readonly requestId: string;
  /** The trace of the call. undefined: the caller has none, and no span is made. */
  readonly traceId: string | undefined;
  /** Monotonic, ms. */
  readonly arrivedMs: number;
  readonly clientAddress: string;
  /** The source of the rate-limit headers: the address's allowance until the token is known, then the token's quota. */
  window: FixedWindow;
  /** The path pattern of the endpoint, for metrics. The path itself would make one series for each id. */
  pattern: string | undefined;
  tokenId: string | undefined;
  /** Of a call of the console's pages: the ids of its sessions. */
  sessionIds?: readonly string[];
  /** Aborts if the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

export function setExchange(response: Response, exchange: Exchange): void {
  response.locals['exchange'] = exchange;
}

/** The exchange of this response. The first middleware sets it. */
export function exchangeOf(response: Response): Exchange {
  return response.locals['exchange'] as Exchange;
}

/** The result of an endpoint. The responder puts the envelope around it. */
export type Reply = ReplyBody & {
  /**
   * Of a write: the environments whose configuration it may have changed (`*`: all), for `Prefer: wait`.
   * A write that changed nothing names them as well.
   */
  readonly concerns?: readonly string[];
};

type ReplyBody =
  | { readonly kind: 'one'; readonly data: object; readonly etag?: string }
  | {
      readonly kind: 'created';
      readonly data: object;
      readonly location: string;
      readonly etag?: string;
    }
  | { readonly kind: 'page'; readonly data: readonly object[]; readonly nextCursor: string | null }
  | { readonly kind: 'none' }
  /** 302, for people. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A body without an envelope, such as the OpenAPI document. Default of `type`: JSON. */
  | { readonly kind: 'document'; readonly content: string | Buffer; readonly type?: string };

/** 200 with one resource. */
export function ok(data: object, etag?: string): Reply {
  return etag === undefined ? { kind: 'one', data } : { kind: 'one', data, etag };
}

/** 201 with the new resource and its path. */
export function created(data: object, location: string, etag?: string): Reply {
  const reply = { kind: 'created', data, location } as const;
  return etag === undefined ? reply : { ...reply, etag };
}

/** 200 with a page of a list; `nextCursor` is null on the last page. */
export function page(data: readonly object[], nextCursor: string | null): Reply {
  return { kind: 'page', data, nextCursor };
}

/** 204. */
export function noContent(): Reply {
  return { kind: 'none' };
}

/** The reply of a write to the configuration of these environments; `*` means all. */
export function concerning(environments: readonly string[], reply: Reply): Reply {
  return { ...reply, concerns: environments };
}

/**
 * Delays the response of a write as `Prefer: wait=N` (RFC 7240) asks, until every live data plane runs the change.
 * Returns the headers that report the result: `Preference-Applied` if that happened in time and all of them can use what
 * was written, else `X-Gateway-Wait` with the reason. The write is already committed and stays so in both cases.
 */
export async function awaitRollout(
  reply: Reply,
  prefer: string | undefined,
  signal: AbortSignal,
  waits: RolloutWaits,
): Promise<Headers> {
  const seconds = reply.concerns === undefined ? undefined : preferredWait(prefer);
  if (seconds === undefined || reply.concerns === undefined) return {};
  const timeoutMs = Math.min(seconds, MAX_WAIT_SECONDS) * 1000;
  const result = await waits.wait(reply.concerns, timeoutMs, signal, writtenIds(reply));
  return result === 'applied'
    ? { 'preference-applied': `wait=${seconds}` }
    : { [HEADER.gatewayWait]: result };
}

/** What the write concerns, by id: one resource, nothing that is left, or anything (undefined). */
function writtenIds(reply: Reply): readonly string[] | undefined {
  if (reply.kind === 'none') return [];
  if (reply.kind !== 'one' && reply.kind !== 'created') return undefined;
  const { id } = reply.data as { readonly id?: unknown };
  return typeof id === 'string' ? [id] : undefined;
}

type Headers = Record<string, string>;

/** Writes all responses of the management port, except those to requests that node:http cannot parse. */
export interface Responder {
  /** Sets the headers of every response, for a body that is written elsewhere. */
  prepare(response: Response): void;
  /** @param more headers of this response only */
  reply(response: Response, reply: Reply, more?: Headers): void;
  error(response: Response, error: GatewayError): void;
  /** An error as a page, for a caller that prefers HTML. */
  errorPage(response: Response, error: GatewayError, page: string | Buffer, more: Headers): void;
  /** 304: the caller already has this representation. */
  notModified(response: Response, etag: string): void;
}

export function createResponder(clock: Clock): Responder {
  function send(
    response: Response,
    status: number,
    headers: Headers,
    body?: string | Buffer,
  ): void {
    const all = { ...standardHeaders(exchangeOf(response), clock), ...headers };
    if (body !== undefined) {
      all['content-type'] ??= 'application/json; charset=utf-8';
      all['content-length'] = String(Buffer.byteLength(body));
    }
    // A shared cache must not give one caller's response to another.
    all['cache-control'] ??= 'no-store';
    response.writeHead(status, all).end(body);
  }

  return {
    prepare(response) {
      for (const [name, value] of Object.entries(standardHeaders(exchangeOf(response), clock))) {
        response.setHeader(name, value);
      }
    },
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
        case 'redirect':
          send(response, 302, { ...more, location: reply.location });
          break;
        case 'document':
          send(response, 200, documentHeaders(reply, more), reply.content);
      }
    },
    error(response, { code, status, message, details, headers }) {
      const { accept } = response.req.headers;
      const { requestId } = exchangeOf(response);
      const { type, body } = errorContent(accept, code, message, requestId, details);
      const own = { [HEADER.gatewayError]: code, 'content-type': type, vary: 'Accept' };
      send(response, status, { ...headers, ...own }, body);
    },
    errorPage(response, { code, status }, page, more) {
      const type = 'text/html; charset=utf-8';
      const own = { [HEADER.gatewayError]: code, 'content-type': type, vary: 'Accept' };
      send(response, status, { ...more, ...own }, page);
    },
    notModified(response, etag) {
      send(response, 304, { etag });
    },
  };
}

function documentHeaders({ type }: { readonly type?: string }, more: Headers): Headers {
  const headers: Headers = { 'cache-control': 'max-age=300', ...more };
  if (type !== undefined) headers['content-type'] = type;
  return headers;
}

/** The headers of every response. */
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
