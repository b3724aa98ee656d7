import type { Refusal, RefusalReason } from '@gateway/http/http1/server/options';
import type { Clock } from '@gateway/shared/clock';
import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { errorContent } from '@gateway/shared/errors/error-content';
import type { IdPrefix } from '@gateway/shared/ids';
import { gatewayFields } from '../request/reply.ts';
import type { AuthFailures } from '../access/auth-failures.ts';

/** Makes the response to a malformed request from this address. */
export type RefusalWriter = (reason: RefusalReason, address: string) => Refusal;

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

/** Answers requests that cannot be read with the error envelope. */
export function createRefusalWriter(options: RefusalOptions): RefusalWriter {
  return (reason, address) => {
    const id = options.makeId('req');
    const { code, reason: text } = KINDS[reason];
    const message = `The request was refused: ${text}.`;
    const { type, body } = errorContent(undefined, code, message, id);
    const window = options.failures.left(address, options.clock.nowMs());
    const fields = [
      ...gatewayFields(id, 0, window),
      'X-Gateway-Error',
      code,
      'Content-Type',
      type,
      'Vary',
      'Accept',
      'Content-Length',
      String(Buffer.byteLength(body)),
    ];
    return { status: ERROR_TABLE[code].status, fields, body };
  };
}
