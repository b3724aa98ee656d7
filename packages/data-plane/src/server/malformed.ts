import type { Duplex } from 'node:stream';
import type { Clock } from '@gateway/shared/clock';
import { errorBody } from '@gateway/shared/errors/gateway-error';
import type { IdPrefix } from '@gateway/shared/ids';
import type { AuthFailures } from '../state/auth-failures.ts';
import { pendingResponse } from './pending-response.ts';

export type MalformedHandler = (error: Error, socket: Duplex) => void;

export interface MalformedOptions {
  readonly makeId: (prefix: IdPrefix) => string;
  readonly failures: AuthFailures;
  readonly clock: Clock;
  /** Counts what was refused, by the parser's reason. */
  readonly count: (reason: string) => void;
}

const REASONS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the header section is too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
};

/**
 * Whether a 400 written now would be taken for, or become a part of, the response to a request before
 * this one: one that has begun to go out, or one to a request that arrived whole.
 */
function wouldMislead(socket: Duplex): boolean {
  const pending = pendingResponse(socket);
  return pending !== undefined && (pending.headersSent || pending.req.complete);
}

/**
 * Answers what is not HTTP with a 400 in the error envelope and closes the connection, as nothing
 * after it can be told apart (RFC 9112 section 2.2). Where the connection owes another response, it is
 * cut.
 */
export function createMalformedHandler(options: MalformedOptions): MalformedHandler {
  return (error, socket) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    options.count(code);
    // More after a request that asked for the end of its connection: it is not read, and the request's
    // own response ends the connection (RFC 9112 section 9.6).
    if (code === 'HPE_CLOSED_CONNECTION' && pendingResponse(socket) !== undefined) return;
    if (wouldMislead(socket)) {
      socket.destroy();
      return;
    }
    const id = options.makeId('req');
    const reason = REASONS[code] ?? 'the request is not well-formed HTTP';
    const body = errorBody('invalid_request', `The request was refused: ${reason}.`, id);
    const address = (socket as { remoteAddress?: string }).remoteAddress ?? '';
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
    socket.end(`${fields.join('\r\n')}\r\n\r\n${body}`);
  };
}
