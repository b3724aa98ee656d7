import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import type { ReadGate } from './read-gate.ts';

/** How much is read of a connection that is about to end; a caller that sends more is not waiting for an answer. */
const MAX_LINGER_BYTES = 128 * 1024;

export interface LingerOptions {
  readonly clock: Clock;
  /** How long a connection that is about to end is still read, ms. */
  readonly lingerTimeoutMs: number;
}

/**
 * The end of a connection: the server's side is closed, and the caller's is read for a while. To close with bytes
 * unread would reset the connection, and could take the response away before the caller has read it (RFC 9112
 * section 9.6).
 */
export class Linger {
  readonly #socket: Socket;
  readonly #gate: ReadGate;
  readonly #options: LingerOptions;
  #timer: Timer | undefined = undefined;
  #bytes = 0;

  constructor(socket: Socket, gate: ReadGate, options: LingerOptions) {
    this.#socket = socket;
    this.#gate = gate;
    this.#options = options;
  }

  /** Sends the last text, one character a byte, and closes the server's side. */
  begin(text: string): void {
    this.#socket.end(text, 'latin1');
    this.#gate.open();
    this.#timer = this.#options.clock.setTimer(this.#options.lingerTimeoutMs, () => {
      this.#socket.destroy();
    });
  }

  /** So many bytes came and were dropped. */
  dropped(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_LINGER_BYTES) this.#socket.destroy();
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

/**
 * Ends a connection so that the response on it cannot look complete. In HTTP/1.0 the end of the connection may be the
 * end of the body (RFC 9112 section 6.3), so the connection is reset. A TLS connection cannot be reset and need not
 * be: without a closure alert its end is not a proper one (RFC 9112 section 9.8).
 */
export function abortConnection(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
