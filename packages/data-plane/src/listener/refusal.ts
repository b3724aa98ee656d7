import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { Refusal, RefusalReason } from '@gateway/http/http1/server/options';
import type { BodilessRefusal } from '@gateway/http/http2/options';
import type { Clock } from '@gateway/shared/clock';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { errorContent } from '@gateway/shared/errors/error-content';
import { grpcStatusOfError } from '@gateway/shared/errors/grpc-statuses';
import { isGrpcContentType } from '@gateway/shared/http/grpc';
import type { IdPrefix } from '@gateway/shared/ids';
import { grpcErrorFields } from '../request/grpc-error-fields.ts';
import { gatewayFields } from '../request/reply.ts';
import type { AuthFailures } from '../access/auth-failures.ts';

/** Makes the responses to requests that are refused without a handler, at an address. */
export interface RefusalWriter {
  /**
   * The response to a malformed request.
   *
   * @param contentType of a request over HTTP/2, if it has one
   */
  readonly refusal: (reason: RefusalReason, address: string, contentType?: string) => Refusal;
  /** The response to a request over HTTP/2 for which no stream is free; undefined: its stream is reset. */
  readonly unhandled: (
    address: string,
    contentType: string | undefined,
  ) => BodilessRefusal | undefined;
}

export interface RefusalOptions {
  readonly makeId: (prefix: IdPrefix) => string;
  readonly failures: AuthFailures;
  readonly clock: Clock;
}

interface RefusalKind {
  readonly code: ErrorCode;
  readonly reason: string;
}

const KINDS: Readonly<Record<RefusalReason, RefusalKind>> = {
  target_overflow: { code: 'uri_too_long', reason: 'the target is too long' },
  header_overflow: { code: 'header_fields_too_large', reason: 'the header fields are too large' },
  malformed_head: { code: 'invalid_request', reason: 'the request is not well-formed HTTP' },
  malformed_body: { code: 'invalid_request', reason: 'the body is not well-formed' },
  slow_head: { code: 'request_timeout', reason: 'the request did not arrive in time' },
};

const NO_STREAM =
  'The call was not handled: too many streams of the connection are open, or the connection ends.';

/** Answers requests that cannot be read with the error envelope, and gRPC calls with a gRPC status. */
export function createRefusalWriter(options: RefusalOptions): RefusalWriter {
  /** The fields of any refusal. */
  const common = (id: string, code: ErrorCode, address: string): string[] => {
    const window = options.failures.left(address, options.clock.nowMs());
    return [...gatewayFields(id, 0, window), 'X-Gateway-Error', code];
  };
  const ofGrpc = (code: ErrorCode, message: string, address: string): BodilessRefusal => {
    const error = { code, message, headers: {} };
    const fields: HeaderFields = [
      ...common(options.makeId('req'), code, address),
      ...grpcErrorFields(grpcStatusOfError(code, false), error, '2.0'),
    ];
    return { status: ERROR_TABLE[code].status, fields };
  };
  return {
    refusal(reason, address, contentType) {
      const { code, reason: text } = KINDS[reason];
      const message = `The request was refused: ${text}.`;
      if (isGrpcContentType(contentType)) return { ...ofGrpc(code, message, address), body: '' };
      const id = options.makeId('req');
      const { type, body } = errorContent(undefined, code, message, id);
      const fields = [
        ...common(id, code, address),
        'Content-Type',
        type,
        'Vary',
        'Accept',
        'Content-Length',
        String(Buffer.byteLength(body)),
      ];
      return { status: ERROR_TABLE[code].status, fields, body };
    },
    unhandled: (address, contentType) =>
      isGrpcContentType(contentType) ? ofGrpc('gateway_overloaded', NO_STREAM, address) : undefined,
  };
}
