import type { Clock } from '@gateway/shared/clock';
import { errorBody } from '@gateway/shared/errors/gateway-error';
import type { IdPrefix } from '@gateway/shared/ids';
import type { AuthFailures } from '../access/auth-failures.ts';
import type { MalformedReason } from '@gateway/http1/message/message-reader';

/** Returns the whole response, head and body, for a malformed request from this address. */
export type MalformedHandler = (reason: MalformedReason, address: string) => string;

export interface MalformedOptions {
  readonly makeId: (prefix: IdPrefix) => string;
  readonly failures: AuthFailures;
  readonly clock: Clock;
}

const REASONS: Readonly<Record<MalformedReason, string>> = {
  header_overflow: 'the header section is too large',
  malformed_head: 'the request is not well-formed HTTP',
  malformed_body: 'the body is not well-formed',
  slow_head: 'the request did not arrive in time',
};

/** Answers malformed requests with 400 and the error envelope; the connection then closes. */
export function createMalformedHandler(options: MalformedOptions): MalformedHandler {
  return (reason, address) => {
    const id = options.makeId('req');
    const text = `The request was refused: ${REASONS[reason]}.`;
    const body = errorBody('invalid_request', text, id);
    const window = options.failures.left(address, options.clock.nowMs());
    const fields = [
      'HTTP/1.1 400 Bad Request',
      `X-Request-Id: ${id}`,
      'X-Gateway-Latency: 0',
      `X-RateLimit-Limit: ${window.limit}`,
      `X-RateLimit-Remaining: ${window.remaining}`,
      `X-RateLimit-Reset: ${window.resetSeconds}`,
      'X-Gateway-Error: invalid_request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    return `${fields.join('\r\n')}\r\n\r\n${body}`;
  };
}
