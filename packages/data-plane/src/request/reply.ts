import type { Clock } from '@gateway/shared/clock';
import { errorBody, GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { ServerExchange } from '@gateway/http/exchange';
import { STATUS_CODES } from 'node:http';
import type { RequestContext } from './context.ts';
import { gatewayFields } from './reply-head.ts';

export interface RespondOptions {
  readonly clock: Clock;
  /** The failed authentications that an address has left; shown while no route is known. */
  readonly failureAllowance: (address: string, nowMs: number) => FixedWindow;
  /** Whether to close connections because the process is stopping. */
  readonly draining: () => boolean;
}

/**
 * Answers with the error envelope `{error: {code, message, request_id, details?}}`. `X-Gateway-Error`
 * tells the caller that the gateway answered, not an upstream.
 */
export function respondWithError(
  ctx: RequestContext,
  exchange: ServerExchange,
  error: GatewayError,
  options: RespondOptions,
): void {
  const { fields, body } = errorReply(ctx, error, options);
  exchange.respond(error.status, STATUS_CODES[error.status] ?? '', fields, false);
  if (ctx.method !== 'HEAD') ctx.responseBytes += body.length;
  exchange.send(body, true);
}

/** The fields and the body of an error reply. */
export function errorReply(
  ctx: RequestContext,
  error: GatewayError,
  options: RespondOptions,
): { readonly fields: string[]; readonly body: Buffer } {
  ctx.errorCode = error.code;
  const body = Buffer.from(errorBody(error.code, error.message, ctx.id, error.details));
  const fields = respondHead(ctx, error.status, options);
  for (const [name, values] of Object.entries(error.headers)) {
    for (const value of [values].flat()) fields.push(name, value);
  }
  // What is left of the body would delay the next request (RFC 9110 section 15.5.9).
  if (error.code === 'request_timeout') fields.push('Connection', 'close');
  fields.push('X-Gateway-Error', error.code, 'Content-Type', 'application/json; charset=utf-8');
  fields.push('Content-Length', String(body.length));
  return { fields, body };
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

/** Turns an unexpected error into `internal_error` and logs it; the caller must not see its cause. */
export function toGatewayError(ctx: RequestContext, error: unknown, log: Logger): GatewayError {
  if (error instanceof GatewayError) return error;
  log.error(
    { request_id: ctx.id, trace_id: ctx.trace.traceId, err: error },
    'request failed unexpectedly',
  );
  return new GatewayError('internal_error', 'The gateway failed to handle the request.');
}
