import type { Refusal, RefusalReason } from '@gateway/http1/server/options';
import type { Clock } from '@gateway/shared/clock';
import { errorBody } from '@gateway/shared/errors/gateway-error';
import type { IdPrefix } from '@gateway/shared/ids';
import { gatewayFields } from '../request/reply-head.ts';
import type { AuthFailures } from '../access/auth-failures.ts';

/** Makes the response to a malformed request from this address. */
export type RefusalWriter = (reason: RefusalReason, address: string) => Refusal;

export interface RefusalOptions {
  readonly makeId: (prefix: IdPrefix) => string;
  readonly failures: AuthFailures;
  readonly clock: Clock;
}

const REASONS: Readonly<Record<RefusalReason, string>> = {
  header_overflow: 'the header section is too large',
  malformed_head: 'the request is not well-formed HTTP',
  malformed_body: 'the body is not well-formed',
  slow_head: 'the request did not arrive in time',
};

/** Answers malformed requests with 400 and the error envelope. */
export function createRefusalWriter(options: RefusalOptions): RefusalWriter {
  return (reason, address) => {
    const id = options.makeId('req');
    const text = `The request was refused: ${REASONS[reason]}.`;
    const body = errorBody('invalid_request', text, id);
    const window = options.failures.left(address, options.clock.nowMs());
    const fields = [
      ...gatewayFields(id, 0, window),
      'X-Gateway-Error',
      'invalid_request',
      'Content-Type',
      'application/json; charset=utf-8',
      'Content-Length',
      String(Buffer.byteLength(body)),
    ];
    return { status: 400, fields, body };
  };
}
