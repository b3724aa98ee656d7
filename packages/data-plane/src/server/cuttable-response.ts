import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * A response that never looks complete where it was given up. In HTTP/1.0 the end of the connection
 * may be the end of the body (RFC 9112 section 6.3), so there the connection is reset.
 */
export class CuttableResponse extends ServerResponse {
  override destroy(error?: Error): this {
    const { socket, req } = this;
    if (req.httpVersion === '1.0' && socket !== null) breakOff(socket);
    return super.destroy(error);
  }
}

/**
 * Ends a connection so that nobody takes it for a proper end. One with TLS cannot be reset, and need not
 * be: without a word of it, its end is none (RFC 9112 section 9.8).
 */
export function breakOff(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
