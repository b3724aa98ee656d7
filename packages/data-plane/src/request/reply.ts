import type { Clock } from '@gateway/shared/clock';
import { errorBody, type GatewayError } from '@gateway/shared/errors/gateway-error';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { UpstreamResponse } from './upstream-response.ts';
import { pipeResponse } from './pipe-response.ts';
import type { CallerResponse } from './caller.ts';
import type { RequestContext } from './context.ts';
import { endToEndFields, gatewayFields, gatewayMsAt } from './reply-head.ts';

export interface RespondOptions {
  readonly clock: Clock;
  /** The failed authentications that an address may still make; counted while no route is known. */
  readonly failureAllowance: (address: string, nowMs: number) => FixedWindow;
  /** Whether connections are to be given up, as the process is about to stop. */
  readonly draining: () => boolean;
}

/** Passes the upstream's response on: status and body unchanged, the gateway's own fields added. */
export function respondWithUpstream(
  ctx: RequestContext,
  response: CallerResponse,
  upstream: UpstreamResponse,
  options: RespondOptions,
): void {
  const { clock } = options;
  const headAtMs = clock.monotonicMs();
  const fields = endToEndFields(upstream.fields, true);
  fields.push(...respondHead(ctx, upstream.status, options, headAtMs));
  response.writeHead(upstream.status, upstream.statusText, fields);
  ctx.whenClientGone(() => upstream.cancel());
  let flows = false;
  pipeResponse(upstream, response, {
    sent: (bytes) => void (ctx.responseBytes += bytes),
    ended: (complete) => {
      // A body that was there with its head took no time.
      if (flows) ctx.upstreamMs += clock.monotonicMs() - headAtMs;
      ctx.upstreamBroke = !complete;
      ctx.whenClientGone(undefined);
    },
  });
  flows = true;
}

/**
 * Answers with the error envelope `{error: {code, message, request_id, details?}}`. `X-Gateway-Error`
 * tells the caller that the gateway answered, not an upstream.
 */
export function respondWithError(
  ctx: RequestContext,
  response: CallerResponse,
  error: GatewayError,
  options: RespondOptions,
): void {
  const { fields, body } = errorReply(ctx, error, options);
  response.writeHead(error.status, fields);
  if (ctx.method === 'HEAD') {
    response.end();
    return;
  }
  response.end(body);
  ctx.responseBytes += Buffer.byteLength(body);
}

/** The fields and the body of an error reply. */
export function errorReply(
  ctx: RequestContext,
  error: GatewayError,
  options: RespondOptions,
): { readonly fields: string[]; readonly body: string } {
  ctx.errorCode = error.code;
  const body = errorBody(error.code, error.message, ctx.id, error.details);
  const fields = respondHead(ctx, error.status, options);
  for (const [name, value] of Object.entries(error.headers)) fields.push(name, value);
  fields.push('X-Gateway-Error', error.code, 'Content-Type', 'application/json; charset=utf-8');
  fields.push('Content-Length', String(Buffer.byteLength(body)));
  return { fields, body };
}

/** The gateway's own fields, and the note of the status and of the time spent. */
export function respondHead(
  ctx: RequestContext,
  status: number,
  options: RespondOptions,
  nowMs = options.clock.monotonicMs(),
): string[] {
  ctx.status = status;
  ctx.gatewayMs = gatewayMsAt(ctx, nowMs);
  const window = ctx.quota ?? options.failureAllowance(ctx.clientIp, options.clock.nowMs());
  const fields = gatewayFields(ctx, window);
  if (options.draining() || awaitsContinue(ctx)) fields.push('Connection', 'close');
  return fields;
}

/**
 * Whether the caller was never told to go on with its body: it may send it or not, so what comes next
 * on the connection cannot be told to be a request (RFC 9110 section 10.1.1).
 */
function awaitsContinue(ctx: RequestContext): boolean {
  return ctx.inbound.expectContinue && !ctx.body.taken && !ctx.body.empty;
}
