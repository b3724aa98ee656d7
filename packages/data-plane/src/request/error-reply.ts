import { STATUS_CODES } from 'node:http';
import type { ServerExchange } from '@gateway/http/exchange';
import { eachField, type HeaderFields } from '@gateway/http/fields/header-fields';
import { errorContent } from '@gateway/shared/errors/error-content';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { grpcStatusOfError } from '@gateway/shared/errors/grpc-statuses';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { unlessCallerIsLate } from './caller-deadline-passed.ts';
import type { RequestContext } from './context.ts';
import { addCorsToRefusal } from './cors-fields.ts';
import { grpcErrorFields, hasStatusInTrailers } from './grpc-error-fields.ts';
import { respondHead, type RespondOptions } from './reply.ts';

const NO_BODY = Buffer.alloc(0);

/**
 * Answers with the body of `errorContent`, or, to a gRPC call, with a status in the head and without a body.
 * `X-Gateway-Error` tells the caller that the gateway answered, not an upstream.
 */
export function respondWithError(
  ctx: RequestContext,
  exchange: ServerExchange,
  refusal: GatewayError,
  options: RespondOptions,
): void {
  const error = unlessCallerIsLate(ctx, refusal, options.clock.monotonicMs());
  const { fields, body } = errorReply(ctx, error, options);
  const isBodiless = body.length === 0;
  const status = hasStatusInTrailers(ctx, error) ? 200 : error.status;
  exchange.respond(status, STATUS_CODES[status] ?? '', fields, isBodiless);
  if (isBodiless) return;
  if (ctx.method !== 'HEAD') ctx.responseBytes += body.length;
  exchange.send(body, true);
}

/** The fields and the body of an error reply. */
function errorReply(
  ctx: RequestContext,
  error: GatewayError,
  options: RespondOptions,
): { readonly fields: string[]; readonly body: Buffer } {
  ctx.errorCode = error.code;
  const fields = respondHead(ctx, error.status, options);
  const cors = ctx.route?.cors;
  const varies = cors !== undefined && addCorsToRefusal(ctx, cors, error.status, fields);
  for (const [name, values] of Object.entries(error.headers)) {
    for (const value of [values].flat()) fields.push(name, value);
  }
  // What is left of the body would delay the next request (RFC 9110 section 15.5.9).
  if (error.code === 'request_timeout') fields.push('Connection', 'close');
  fields.push('X-Gateway-Error', error.code);
  if (ctx.inbound.isGrpc) {
    ctx.grpcStatus = grpcStatusOfError(error.code, ctx.mayHaveSent);
    fields.push(...grpcErrorFields(ctx.grpcStatus, error, ctx.httpVersion));
    if (varies) fields.push('Vary', 'Origin');
    return { fields, body: NO_BODY };
  }
  const accept = acceptOf(ctx.inbound.raw);
  const content = errorContent(accept, error.code, error.message, ctx.id, error.details);
  const body = Buffer.from(content.body);
  fields.push('Content-Type', content.type, 'Vary', varies ? 'Accept, Origin' : 'Accept');
  fields.push('Content-Length', String(body.length));
  return { fields, body };
}

function acceptOf(raw: HeaderFields): string | undefined {
  let accept: string | undefined;
  eachField(raw, (name, value) => {
    if (name.toLowerCase() === 'accept')
      accept = accept === undefined ? value : `${accept},${value}`;
  });
  return accept;
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
