import type { ServerExchange } from '@gateway/http/exchange';
import { fieldValue, type HeaderFields } from '@gateway/http/fields/header-fields';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { grpcNameOfBreak } from '@gateway/shared/errors/grpc-statuses';
import { GRPC_STATUS, isGrpcContentType, type GrpcStatusName } from '@gateway/shared/http/grpc';
import type { RequestContext } from './context.ts';
import { grpcMessage } from './grpc-error-fields.ts';
import { takesTrailers } from './trailers.ts';
import type { BreakReason, UpstreamResponse } from './upstream-response.ts';

/* The end of a response that breaks off after its head: of a gRPC call it is a status, not a reset. */

/** Why a response ends early, as its caller gets to know. */
export interface BreakError extends Pick<GatewayError, 'code' | 'message'> {
  /** undefined: that of the code. */
  readonly grpcStatus?: GrpcStatusName;
}

/**
 * The trailers that end the response to a gRPC call over HTTP/2 with the status of an error, which the context gets too.
 * Over HTTP/1.1 a response is cut: whatever ignores trailers would take its body as whole (RFC 9112 section 7.1.2). So is one
 * within a message: of the rest of it, connect-node makes INVALID_ARGUMENT whatever the trailers say.
 *
 * @param response its head was sent, and its end was not
 * @returns undefined: the caller would not read them, so that the response must be cut
 */
export function statusInTrailers(
  ctx: RequestContext,
  exchange: ServerExchange,
  response: UpstreamResponse,
  error: BreakError,
): HeaderFields | undefined {
  if (!ctx.inbound.isGrpc || ctx.httpVersion !== '2.0' || !takesTrailers(ctx)) return undefined;
  if (exchange.isClosed || !canEndEarly(response)) return undefined;
  if (ctx.grpcMessages?.areWhole !== true) return undefined;
  ctx.grpcStatus = GRPC_STATUS[error.grpcStatus ?? grpcNameOfBreak(error.code)];
  const message = grpcMessage(`${error.code}: ${error.message}`);
  return ['grpc-status', String(ctx.grpcStatus), 'grpc-message', message];
}

/** Ends the response with these trailers; undefined: cuts it, for the reason `end`. */
export function endEarly(
  exchange: ServerExchange,
  trailers: HeaderFields | undefined,
  end: 'cut_short' | 'timed_out',
): void {
  if (trailers === undefined) exchange.abort(end);
  else exchange.send('', true, trailers);
}

/** A shorter body than announced is malformed (RFC 9113 section 8.1.1): clients would not read its trailers. */
function canEndEarly({ status, fields }: UpstreamResponse): boolean {
  if (status !== 200 || !isGrpcContentType(fieldValue(fields, 'content-type'))) return false;
  return fieldValue(fields, 'content-length') === undefined;
}

/**
 * Notes why a response broke off: because of its upstream, or because the rest of the request has failed.
 *
 * @returns the error for the caller; undefined: it has left
 */
export function noteBreak(ctx: RequestContext, why: BreakReason): BreakError | undefined {
  const { failure } = ctx.body;
  if (failure === undefined) {
    ctx.upstreamBroke = true;
    return BREAKS[why] ?? BROKEN_OFF;
  }
  if (!(failure instanceof GatewayError)) return undefined;
  ctx.errorCode ??= ctx.refusedWithin = failure.code;
  return failure;
}

const BROKEN_OFF: BreakError = {
  code: 'upstream_unavailable',
  message: 'The upstream broke off its response.',
};

const BREAKS: Partial<Readonly<Record<BreakReason, BreakError>>> = {
  silent: {
    code: 'upstream_timeout',
    message: 'The upstream sent nothing more for too long (body_idle_timeout_ms).',
  },
  // What clients make of such a reset (the protocol of gRPC over HTTP/2, Errors).
  server_cancelled: {
    code: 'upstream_unavailable',
    grpcStatus: 'CANCELLED',
    message: 'The upstream cancelled its response.',
  },
  invalid_response: {
    code: 'upstream_unavailable',
    message: 'The upstream sent invalid HTTP within its response.',
  },
  internal_error: {
    code: 'internal_error',
    message: 'The gateway failed to handle the response.',
  },
};

/** Why a response has taken too long: the deadline of its caller, or silence in both directions. */
export function lateEnd({ errorCode }: RequestContext): BreakError {
  return errorCode === undefined
    ? {
        code: 'response_timeout',
        message: 'Nothing arrived in either direction for too long (body_idle_timeout_ms).',
      }
    : {
        code: errorCode,
        message: 'The deadline of the caller (grpc-timeout) passed before the response ended.',
      };
}
