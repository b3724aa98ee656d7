import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Ends a connection so that nobody takes it for a proper end: in HTTP/1.0 the end of the connection
 * may be the end of the body (RFC 9112 section 6.3), so it is reset. One with TLS cannot be reset, and
 * need not be: without a word of it, its end is none (RFC 9112 section 9.8).
 */
export function breakOff(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
