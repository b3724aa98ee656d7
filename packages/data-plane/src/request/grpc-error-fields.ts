import { grpcStatusOf } from '@gateway/shared/errors/grpc-statuses';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { escapeBytes } from '../text/escape-bytes.ts';
import type { RequestContext } from './context.ts';

/** All but visible ASCII and spaces, and the percent sign. */
const NOT_IN_MESSAGE = /[^ -$&-~]/g;

/**
 * The fields that make a head without a body the failure of a gRPC call (`Trailers-Only` of
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). The message begins with the code of the error.
 */
export function grpcErrorFields(
  { mayHaveSent, httpVersion }: Pick<RequestContext, 'mayHaveSent' | 'httpVersion'>,
  error: Pick<GatewayError, 'code' | 'message' | 'headers'>,
): string[] {
  const fields = [
    'Content-Type',
    'application/grpc',
    'grpc-status',
    String(grpcStatusOf(error.code, mayHaveSent)),
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
