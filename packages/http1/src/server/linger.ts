import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';
import type { ReadGate } from './read-gate.ts';

/** What is read of a connection that is about to end; who sends more than that is not waiting for an answer. */
const MAX_LINGERED_BYTES = 128 * 1024;

export interface LingerOptions {
  readonly clock: Clock;
  /** How long a connection is read on that is about to end. */
  readonly lingerTimeoutMs: number;
}

/**
 * The end of a connection: its side is ended, and it is read on for a while. To close with bytes unread
 * would reset it, and might take the response away before the caller has read it (RFC 9112 section 9.6).
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

  /** The last of what is sent, one character a byte. */
  begin(text: string): void {
    this.#socket.end(text, 'latin1');
    this.#gate.open();
    this.#timer = this.#options.clock.setTimer(this.#options.lingerTimeoutMs, () => {
      this.#socket.destroy();
    });
  }

  /** So many bytes came that nobody reads. */
  passedOver(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_LINGERED_BYTES) this.#socket.destroy();
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
