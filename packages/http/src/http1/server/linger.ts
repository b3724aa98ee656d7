import type { Socket } from 'node:net';
import type { Timer } from '../../clock.ts';
import { responseHead } from '../../message/message-writer.ts';
import type { RefusalReason, ServerOptions } from './options.ts';
import type { ReadGate } from './read-gate.ts';
import type { BodySource } from '../../exchange.ts';

/**
 * Reads what a caller sends that nobody wants, for a bounded time: the rest of a body whose response was sent, and what
 * arrives while a connection ends. To end a connection, it closes the server's side, and reads the caller's side for a
 * while, at the pace of an unwanted body. Closing with unread bytes would reset the connection, and could destroy the
 * response before the caller has read it (RFC 9112 section 9.6). Many callers read a response only after they have sent
 * their whole request.
 */
export class Linger {
  readonly #socket: Socket;
  readonly #gate: ReadGate;
  readonly #options: ServerOptions;
  #timer: Timer | undefined = undefined;
  #unwanted: Timer | undefined = undefined;
  #isSending = false;

  constructor(socket: Socket, gate: ReadGate, options: ServerOptions) {
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

  /** Sends the response to bytes of this address that are not a request, and ends the connection. */
  refuse(reason: RefusalReason, address: string): void {
    const socket = this.#socket;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { status, fields, body } = this.#options.refusal(reason, address);
    this.begin(responseHead(status, [...fields, 'Connection', 'close']) + body);
  }

  /** Drops the rest of a body. A caller cannot hold the connection open by sending without end. */
  discard(body: BodySource): void {
    const { clock, lingerTimeoutMs, cut } = this.#options;
    this.#unwanted = clock.setTimer(lingerTimeoutMs, () => {
      cut();
      this.#socket.destroy();
    });
    body.discard();
  }

  /** A body has ended. */
  bodyEnded(): void {
    this.#unwanted?.cancel();
  }

  /** This many bytes have arrived and were dropped. */
  dropped(bytes: number): void {
    this.#isSending = true;
    this.#gate.dropped(bytes);
  }

  /** The connection is closed. */
  stop(): void {
    this.#timer?.cancel();
    this.#unwanted?.cancel();
  }
}
