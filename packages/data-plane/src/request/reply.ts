import type { ServerExchange } from '@gateway/http/exchange';
import type { Clock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { responseStatus } from './grpc-response-status.ts';
import { decimalText } from '../text/decimal-text.ts';
import type { RequestContext } from './context.ts';
import { addCors, withoutUpstreamCors } from './cors-fields.ts';
import { endToEndFields, passedFields, passedTrailers } from './end-to-end-fields.ts';
import type { Handling, Reply } from './stage.ts';

/* The head of each reply: the fields of the gateway itself, beside those of an upstream. */

/** The fields that every response of a data plane carries. */
export function gatewayFields(id: string, gatewayUs: number, window: FixedWindow): string[] {
  return [
    'X-Request-Id',
    id,
    'X-Gateway-Latency',
    String(Math.round(gatewayUs / 1000)),
    'X-RateLimit-Limit',
    String(window.limit),
    'X-RateLimit-Remaining',
    decimalText(window.remaining),
    'X-RateLimit-Reset',
    String(window.resetSeconds),
  ];
}

export interface RespondOptions {
  readonly clock: Clock;
  /** The failed authentications that an address has left; shown while no route is known. */
  readonly failureAllowance: (address: string, nowMs: number) => FixedWindow;
  /** Whether to close connections because the process is stopping. */
  readonly draining: () => boolean;
}

/** The fields of a response of an upstream. */
export function upstreamFields(
  options: RespondOptions,
): Pick<Handling, 'passFields' | 'addFields' | 'passTrailers'> {
  return {
    passFields: (ctx, response) => passedFields(response, ctx),
    passTrailers: (ctx, response, trailers) => passedTrailers(response, trailers, ctx),
    addFields(ctx, status) {
      const fields = respondHead(ctx, status, options);
      const cors = ctx.route?.cors;
      if (cors !== undefined) addCors(ctx, cors, fields);
      return fields;
    },
  };
}

/** Answers as a stage says. */
export function respondWith(
  ctx: RequestContext,
  exchange: ServerExchange,
  { status, statusText, fields, body, trailers }: Reply,
  options: RespondOptions,
): void {
  const own = respondHead(ctx, status, options);
  const isBodiless = body.length === 0 && trailers === undefined;
  const passed = endToEndFields(fields, ctx);
  // The answer to a preflight has its own.
  const cors = ctx.kind === 'preflight' ? undefined : ctx.route?.cors;
  if (cors !== undefined) addCors(ctx, cors, own);
  const replaced = cors === undefined ? passed : withoutUpstreamCors(passed, cors);
  // The end of a stored response, or the answer of a route.
  if (ctx.inbound.isGrpc) ctx.grpcStatus = responseStatus(status, isBodiless ? fields : trailers);
  exchange.respond(status, statusText, replaced.concat(own), isBodiless);
  if (isBodiless) return;
  ctx.responseBytes += body.length;
  exchange.send(body, true, trailers);
}

/** Returns the gateway's own fields, and stores the status and the time. From here on the response is being sent. */
export function respondHead(
  ctx: RequestContext,
  status: number,
  options: RespondOptions,
): string[] {
  ctx.status = status;
  const { times } = ctx;
  times.enter('sending', options.clock.monotonicMs());
  ctx.firstByteMs = (times.totalUs - times.receivingUs) / 1000;
  const window = ctx.quota ?? options.failureAllowance(ctx.clientIp, options.clock.nowMs());
  const fields = gatewayFields(ctx.id, times.gatewayUs, window);
  const cookie = ctx.affinity?.newCookie;
  if (cookie !== undefined) fields.push('Set-Cookie', cookie);
  if (options.draining() || ctx.leavesHttp || awaitsContinue(ctx)) {
    fields.push('Connection', 'close');
  }
  return fields;
}

/**
 * Whether the caller still waits for `100 Continue`. It may send the body or not, so the next bytes on
 * the connection may be the body or a new request (RFC 9110 section 10.1.1).
 */
function awaitsContinue(ctx: RequestContext): boolean {
  return ctx.inbound.expectContinue && !ctx.body.taken && !ctx.body.empty;
}
