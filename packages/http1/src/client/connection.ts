import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { BodyBytes } from '../message/body-bytes.ts';
import { UnsendableError, writeRequest, type ClientRequest } from './request-writer.ts';
import type { ResponseHead } from '../message/response-head.ts';
import { ResponseParser } from '../message/response-parser.ts';

/** What a connection tells the exchange that it carries. */
export interface ExchangeEvents {
  readonly request: ClientRequest;
  head(head: ResponseHead): void;
  /** Some of the body; a buffer is good until the call returns. */
  body(bytes: BodyBytes): void;
  end(): void;
  /** The exchange cannot go on. */
  broken(reason: BreakReason, error: Error): void;
}

export type BreakReason = 'reset' | 'invalid_response' | 'request_body' | 'unsendable';

/** What a connection tells its pool. */
export interface ConnectionOwner {
  readonly host: string;
  /** The exchange is over and the connection can carry another. */
  idle(connection: ClientConnection): void;
  /** The connection is gone. */
  closed(connection: ClientConnection): void;
}

const CLOSED = new Error('the upstream closed the connection');

/**
 * One connection to an upstream, with one exchange at a time on it. It is used again only where both
 * sides have said all that they had to say; in any other case it is cut.
 */
export class ClientConnection {
  idleSinceMs = 0;
  /** The turn of the event loop in which it was given back. */
  idleSinceTurn = 0;
  /** By the monotonic clock: after it no other exchange begins. */
  retiresAtMs = Infinity;
  keepAliveHintMs: number | undefined = undefined;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #parser: ResponseParser;
  #exchange: ExchangeEvents | undefined;
  #requestSent = false;
  #responseEnded = false;
  #keepAlive = false;
  #feeding = false;
  #spent = false;

  /** The socket must be connected; `received` is to be called with what it reads. */
  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parser = new ResponseParser({
      head: (head) => {
        this.#keepAlive = head.keepAlive;
        this.keepAliveHintMs = head.keepAliveHintMs;
        this.#exchange?.head(head);
      },
      body: (bytes) => this.#exchange?.body(bytes),
      end: () => {
        this.#responseEnded = true;
        this.#settle();
      },
    });
    socket.on('end', () => {
      if (this.#exchange !== undefined && this.#parser.finish()) return;
      this.#break('reset', CLOSED);
    });
    socket.on('error', (error) => {
      this.#break('reset', error);
    });
    socket.on('close', () => {
      this.#break('reset', CLOSED);
      owner.closed(this);
    });
  }

  /** Whether an exchange can begin on it. */
  get usable(): boolean {
    return this.#exchange === undefined && !this.#socket.destroyed && this.#socket.writable;
  }

  /** After an upgrade: takes the bytes for the upstream. What it sends arrives through the exchange. */
  get writable(): Writable {
    return this.#socket;
  }

  /** Sends the request of an exchange and carries its response. */
  carry(exchange: ExchangeEvents): void {
    this.#exchange = exchange;
    this.#requestSent = false;
    this.#responseEnded = false;
    this.#parser.expect(exchange.request.method, exchange.request.upgrade);
    writeRequest(this.#socket, this.#owner.host, exchange.request, (error) => {
      if (this.#exchange !== exchange) return;
      if (error instanceof UnsendableError) this.#break('unsendable', error);
      else if (error !== undefined) this.#break('request_body', error);
      else {
        this.#requestSent = true;
        if (this.#responseEnded) this.#settle();
      }
    });
  }

  /** Bytes of the upstream, good until the call returns. */
  received(bytes: Buffer): void {
    this.#feeding = true;
    const wellFormed = this.#exchange !== undefined && this.#parser.feed(bytes);
    this.#feeding = false;
    // Also bytes after the end of a response, or on an idle connection: nobody asked for them, and
    // whoever asked next would take them for the answer.
    if (!wellFormed) this.#break('invalid_response', INVALID);
    else if (this.#spent) this.#giveBack();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Cuts the connection; the exchange on it is told nothing. */
  destroy(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  /** The response is complete. An upstream that answers early is not sent the rest of the request. */
  #settle(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#spent = true;
    exchange.end();
    if (!this.#feeding) this.#giveBack();
  }

  #giveBack(): void {
    this.#spent = false;
    // What an upstream did not take before it answered would be in the way of the next request.
    const taken = this.#requestSent && this.#socket.writableLength === 0;
    if (!taken || !this.#keepAlive || this.#socket.destroyed) {
      this.#socket.destroy();
      return;
    }
    // The last bytes may have paused it; at rest it must read on, and so must whoever comes next.
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#owner.idle(this);
  }

  #break(reason: BreakReason, error: Error): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.broken(reason, error);
  }
}

const INVALID = new Error('the response is not well-formed HTTP/1.1');
