import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../clock.ts';
import type { ReadGate } from './read-gate.ts';

export interface LingerOptions {
  readonly clock: Clock;
  /** How long a closing connection is still read, ms. */
  readonly lingerTimeoutMs: number;
  /** Called when a caller that went on sending has not closed its side by then, so that its connection is cut. */
  readonly cut: () => void;
}

/**
 * Ends a connection: closes the server's side, and reads the caller's side for a while, at the pace of an unwanted body.
 * Closing with unread bytes would reset the connection, and could destroy the response before the caller has read it (RFC
 * 9112 section 9.6). Many callers read a response only after they have sent their whole request.
 */
export class Linger {
  readonly #socket: Socket;
  readonly #gate: ReadGate;
  readonly #options: LingerOptions;
  #timer: Timer | undefined = undefined;
  #isSending = false;

  constructor(socket: Socket, gate: ReadGate, options: LingerOptions) {
    this.#socket = socket;
    this.#gate = gate;
    this.#options = options;
  }

  /** Sends the last text, in which each character is one byte, and closes the server's side. */
  begin(text: string): void {
    this.#socket.end(text, 'latin1');
    this.#gate.wantNothing();
    this.#timer = this.#options.clock.setTimer(this.#options.lingerTimeoutMs, () => {
      if (this.#isSending) this.#options.cut();
      this.#socket.destroy();
    });
  }

  /** This many bytes have arrived and were dropped. */
  dropped(bytes: number): void {
    this.#isSending = true;
    this.#gate.dropped(bytes);
  }

  /** The connection is closed. */
  stop(): void {
    this.#timer?.cancel();
  }
}

/**
 * Ends a connection so that the response on it cannot look complete. In HTTP/1.0 the end of the connection may be the
 * end of the body (RFC 9112 section 6.3), so the connection is reset. A TLS connection does not need a reset: without a
 * closure alert its end is incomplete (RFC 9112 section 9.8).
 */
export function abortConnection(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
