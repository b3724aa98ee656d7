import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { escapeBytes } from '../text/escape-bytes.ts';
import type { RequestContext } from './context.ts';

/** All but visible ASCII and spaces, and the percent sign. */
const NOT_IN_MESSAGE = /[^ -$&-~]/g;

/**
 * The fields that make a head without a body the failure of a gRPC call (`Trailers-Only` of
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). The message begins with the code of the error.
 *
 * @param status the gRPC status, 1 to 16
 */
export function grpcErrorFields(
  status: number,
  error: Pick<GatewayError, 'code' | 'message' | 'headers'>,
  httpVersion: string,
): string[] {
  const fields = [
    'Content-Type',
    'application/grpc',
    'grpc-status',
    String(status),
    'grpc-message',
    grpcMessage(`${error.code}: ${error.message}`),
  ];
  const { 'retry-after': seconds } = error.headers;
  // Clients that repeat the call by a policy of their own wait so long (gRFC A6).
  if (typeof seconds === 'string') {
    fields.push('grpc-retry-pushback-ms', String(Number(seconds) * 1000));
  }
  if (httpVersion !== '2.0') fields.push('Content-Length', '0');
  return fields;
}

/** A text as the value of `grpc-message`: percent-encoded UTF-8. */
export function grpcMessage(text: string): string {
  return escapeBytes(Buffer.from(text).toString('latin1'), NOT_IN_MESSAGE);
}

/**
 * Whether a gRPC call gets the error with the HTTP status 200, as its route wants. Whoever may not use the route could find
 * out by that that it exists, so it gets the status of the error, unless its host has made the route public.
 */
export function hasStatusInTrailers(
  ctx: RequestContext,
  { code }: Pick<GatewayError, 'code'>,
  failedStage = ctx.failedStage,
): boolean {
  if (!ctx.inbound.isGrpc || ctx.route?.settings.grpc_errors !== 'trailers') return false;
  // Any 2xx would open a tunnel (RFC 8441 section 5).
  if (ctx.leavesHttp) return false;
  return ctx.target.way !== undefined || !isRefusedAccess(failedStage, code);
}

function isRefusedAccess(stage: string | undefined, code: ErrorCode): boolean {
  const isOfAccess = stage === 'authenticate' || stage === 'authorize';
  return isOfAccess && ERROR_TABLE[code].domain === 'access';
}
