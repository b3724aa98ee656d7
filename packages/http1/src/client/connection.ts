import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { ConnectionGuard } from '../connection-guard.ts';
import type { BodyBytes } from '../message/body-bytes.ts';
import { MessageReader } from '../message/message-reader.ts';
import { UnsendableError } from '../message/message-writer.ts';
import { ResponseSyntax, type ResponseHead } from '../message/response-head.ts';
import type { ClientRequest } from '../exchange.ts';
import { writeRequest } from './request-writer.ts';

/** An exchange. Its connection calls these methods. */
export interface ClientExchange {
  readonly request: ClientRequest;
  /** All of the request was written. */
  requestSent(): void;
  /** The head of the final response. */
  head(head: ResponseHead): void;
  /** A part of the body; a buffer is valid until the call returns. */
  body(bytes: BodyBytes): void;
  end(): void;
  /** The exchange cannot continue. */
  failed(reason: ExchangeFailure, error: Error): void;
}

/**
 * `reset`: the connection ended early. `request_body`: the body to send failed. `internal_error`: an exception of this
 * process.
 */
export type ExchangeFailure =
  | 'reset'
  | 'invalid_response'
  | 'response_head_too_large'
  | 'request_body'
  | 'unsendable'
  | 'internal_error';

/** The pool of a connection. */
export interface ConnectionOwner {
  /** The value of `Host`. */
  readonly host: string;
  /** The exchange has ended and the connection can be used for another one. */
  idle(connection: ClientConnection): void;
  /** The connection is closed. */
  closed(connection: ClientConnection): void;
  /** An exception in what handles an exchange; the connection ends with it. */
  internalError(error: unknown): void;
}

/** The largest head of a response that is accepted. */
export const HEAD_LIMITS = { maxHeaderBytes: 64 * 1024, maxHeaderLines: 1000 };
const CLOSED = new Error('the peer closed the connection');
const INVALID = new Error('the response is malformed HTTP/1.1');
const TOO_LARGE = new Error('the head of the response is larger than is accepted');
const INTERNAL = new Error('an internal error of the client');

/**
 * One connection to a server, with one exchange at a time. It is used again only if request and response were both
 * complete; otherwise it is closed.
 */
export class ClientConnection {
  /** When it became idle; ms, monotonic. */
  idleSinceMs = 0;
  /** The turn of the event loop in which it became idle. */
  idleSinceTurn = 0;
  /** No exchange starts on it after this time; ms, monotonic. */
  retiresAtMs = Infinity;
  /** The idle timeout that the server announced last. */
  keepAliveHintMs: number | undefined = undefined;
  /** For what handles the exchange, which ends as if the peer had reset the connection. */
  readonly guard: ConnectionGuard;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #syntax = new ResponseSyntax();
  readonly #reader: MessageReader<ResponseHead>;
  #exchange: ClientExchange | undefined;
  #requestSent = false;
  #responseEnded = false;
  #keepAlive = false;
  #feeding = false;
  /** Whether the exchange ended within the read that is being handled. */
  #endedInRead = false;

  /** The socket must be connected; `received` must be called with what it reads. */
  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    const broken = {
      destroy: () => {
        this.#fail('internal_error', INTERNAL);
      },
    };
    this.guard = new ConnectionGuard(broken, (error) => {
      owner.internalError(error);
    });
    const events = {
      head: (head: ResponseHead, last: boolean) => {
        this.#keepAlive = head.keepAlive;
        this.keepAliveHintMs = head.keepAliveHintMs;
        this.#exchange?.head(head);
        if (last) this.#ended();
      },
      body: (bytes: BodyBytes, last: boolean) => {
        if (bytes.length > 0) this.#exchange?.body(bytes);
        if (last) this.#ended();
      },
    };
    this.#reader = new MessageReader(this.#syntax, events, HEAD_LIMITS);
    socket.on('end', () => {
      this.guard.run(() => {
        if (this.#exchange !== undefined && this.#reader.finish()) return;
        this.#fail('reset', CLOSED);
      });
    });
    socket.on('error', (error) => {
      this.guard.run(() => {
        this.#fail('reset', error);
      });
    });
    socket.on('close', () => {
      this.guard.run(() => {
        this.#fail('reset', CLOSED);
      });
      this.guard.run(() => {
        owner.closed(this);
      });
    });
  }

  /** Whether an exchange can start on it. */
  get usable(): boolean {
    return this.#exchange === undefined && !this.#socket.destroyed && this.#socket.writable;
  }

  /** After an upgrade: receives the bytes for the server. The bytes of the server are the body of the response. */
  get writable(): Writable {
    return this.#socket;
  }

  /** Sends the request of an exchange and reads its response. */
  carry(exchange: ClientExchange): void {
    this.#exchange = exchange;
    this.#requestSent = false;
    this.#responseEnded = false;
    this.#syntax.answers(exchange.request.method, exchange.request.upgrade);
    this.#reader.expect();
    try {
      writeRequest(this.#socket, this.#owner.host, exchange.request, (error) => {
        this.guard.run(() => {
          this.#requestDone(exchange, error);
        });
      });
    } catch (error) {
      this.guard.fail(error);
    }
  }

  #requestDone(exchange: ClientExchange, error: Error | undefined): void {
    if (this.#exchange !== exchange) return;
    if (error instanceof UnsendableError) this.#fail('unsendable', error);
    else if (error !== undefined) this.#fail('request_body', error);
    else {
      this.#requestSent = true;
      exchange.requestSent();
      if (this.#responseEnded) this.#settle();
    }
  }

  /** Bytes of the server, valid until the call returns. */
  received(bytes: Buffer): void {
    try {
      this.#read(bytes);
    } catch (error) {
      this.guard.fail(error);
    }
  }

  #read(bytes: Buffer): void {
    this.#feeding = true;
    // Bytes after the end of a response, or on an idle connection, belong to no request. The next exchange would read
    // them as its response.
    const read = this.#exchange === undefined ? undefined : this.#reader.feed(bytes);
    this.#feeding = false;
    if (read === 'header_overflow') this.#fail('response_head_too_large', TOO_LARGE);
    else if (read !== bytes.length) this.#fail('invalid_response', INVALID);
    else if (this.#endedInRead) this.#giveBack();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes the connection. The exchange on it is not informed. */
  destroy(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  #ended(): void {
    this.#responseEnded = true;
    this.#settle();
  }

  /** The response is complete. The rest of the request is not sent to a server that responds early. */
  #settle(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#endedInRead = true;
    try {
      exchange.end();
    } catch (error) {
      // It has not ended: it fails with this connection.
      this.#exchange = exchange;
      throw error;
    }
    if (!this.#feeding) this.#giveBack();
  }

  #giveBack(): void {
    this.#endedInRead = false;
    // Unsent bytes of this request would precede the next request.
    const taken = this.#requestSent && this.#socket.writableLength === 0;
    if (!taken || !this.#keepAlive) {
      this.#socket.destroy();
      return;
    }
    // The last bytes may have paused it; it must be read while it is idle and in the next exchange.
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#owner.idle(this);
  }

  #fail(reason: ExchangeFailure, error: Error): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.failed(reason, error);
  }
}
