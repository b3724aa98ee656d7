import type { Socket } from 'node:net';
import { ConnectionGuard } from '../../connection-guard.ts';
import type {
  ClientConnection,
  ClientHandler,
  ConnectionOwner,
  ClientRequest,
  BodySource,
  ClientStream,
  ExchangeFailure,
} from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import type { FieldBlocks } from '../../message/repeated-fields.ts';
import { MessageReader } from '../../message/message-reader.ts';
import { UnsendableError } from '../../message/message-writer.ts';
import { ResponseSyntax, type ResponseHead } from '../../message/response-head.ts';
import { beginsAsHttp2 } from '../../other-version.ts';
import type { ConnectedSocket } from '../../sockets/connect.ts';
import { sendBytes, writeRequest } from './request-writer.ts';

/** What holds a connection of HTTP/1.1. */
export interface Http1ConnectionOwner extends ConnectionOwner<Http1ClientConnection> {
  /** The blocks of field lines that its responses repeat. */
  readonly blocks?: FieldBlocks | undefined;
}

/** The largest head of a response that is accepted, and the largest trailers. */
export const HEAD_LIMITS = { maxHeaderBytes: 64 * 1024, maxHeaderLines: 1000 };

/** The handler of an exchange that was cancelled within the read that brings the rest of its response. */
const CANCELLED: ClientHandler = {
  head: () => undefined,
  data: () => undefined,
  delivered: () => undefined,
  failed: () => undefined,
};

/**
 * One connection to a server, with one exchange at a time. It is used again only if request and response were both
 * complete; otherwise it is closed.
 */
export class Http1ClientConnection implements ClientConnection, ClientStream {
  /** When it became idle; ms, monotonic. */
  idleSinceMs = 0;
  /** No exchange starts on it after this time; ms, monotonic. */
  retiresAtMs = Infinity;
  /** The idle timeout that the server announced last. */
  keepAliveHintMs: number | undefined = undefined;
  /** For what handles the exchange, which ends as if the peer had reset the connection. */
  readonly guard: ConnectionGuard;
  readonly #socket: Socket;
  readonly #owner: Http1ConnectionOwner;
  readonly #syntax: ResponseSyntax;
  readonly #reader: MessageReader<ResponseHead>;
  /** That of the exchange in progress. */
  #handler: ClientHandler | undefined;
  #requestSent = false;
  #keepAlive = false;
  #isReading = false;
  /** Whether the read that is being handled has brought the head of the response, and its end. */
  #hadHead = false;
  #hadEnd = false;

  constructor({ socket, readBy }: ConnectedSocket, owner: Http1ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#syntax = new ResponseSyntax(owner.blocks);
    const broken = {
      destroy: () => {
        this.#fail('internal_error');
      },
    };
    this.guard = new ConnectionGuard(broken, (error) => {
      owner.internalError(error);
    });
    const events = {
      head: (head: ResponseHead, last: boolean) => {
        this.#keepAlive = head.keepAlive;
        this.keepAliveHintMs = head.keepAliveHintMs;
        this.#hadHead = true;
        this.#handler?.head(head, last);
        if (last) this.#end();
      },
      body: (bytes: BodyBytes, last: boolean, trailers?: HeaderFields) => {
        this.#handler?.data(bytes, last, trailers);
        if (last) this.#end();
      },
    };
    this.#reader = new MessageReader(this.#syntax, events, HEAD_LIMITS);
    readBy((bytes) => {
      this.#received(bytes);
    });
    socket.on('end', () => {
      this.guard.run(() => {
        if (this.#handler !== undefined && this.#reader.finish()) return;
        this.#fail('reset');
      });
    });
    socket.on('error', () => {
      this.guard.run(() => {
        this.#fail('reset');
      });
    });
    socket.on('close', () => {
      this.guard.run(() => {
        this.#fail('reset');
      });
      this.guard.run(() => {
        owner.closed(this);
      });
    });
  }

  get free(): number {
    return this.#handler === undefined && !this.#socket.destroyed && this.#socket.writable ? 1 : 0;
  }

  /** The stream is the connection itself: once the response has ended, it is that of the next exchange. */
  carry(request: ClientRequest, handler: ClientHandler): ClientStream {
    this.#handler = handler;
    this.#requestSent = false;
    this.#hadHead = false;
    this.#syntax.answers(request.method, request.upgrade, request.hints);
    this.#reader.expect();
    try {
      const isSent = writeRequest(this.#socket, this.#owner.host, request, (error) => {
        this.guard.run(() => {
          this.#requestDone(handler, error);
        });
      });
      if (isSent) this.#requestDone(handler);
    } catch (error) {
      this.guard.fail(error);
    }
    return this;
  }

  #requestDone(handler: ClientHandler, error?: Error): void {
    if (this.#handler !== handler) return;
    if (error instanceof UnsendableError) this.#fail('unsendable');
    else if (error !== undefined) this.#fail('request_body');
    else this.#requestSent = true;
  }

  #received(bytes: Buffer): void {
    try {
      this.#read(bytes);
    } catch (error) {
      this.guard.fail(error);
    }
  }

  #read(bytes: Buffer): void {
    this.#isReading = true;
    // Bytes after the end of a response, or on an idle connection, belong to no request. The next exchange would read
    // them as its response.
    const read = this.#handler === undefined ? undefined : this.#reader.feed(bytes);
    this.#isReading = false;
    if (read === 'header_overflow') this.#fail('response_head_too_large');
    else if (read !== bytes.length) {
      const isFirst = this.#socket.bytesRead === bytes.length;
      this.#fail(isFirst && beginsAsHttp2(bytes) ? 'speaks_http2' : 'invalid_response');
    } else if (this.#hadEnd) this.#giveBack();
    else if (this.#handler === CANCELLED) this.destroy();
    else if (this.#hadHead) {
      this.#hadHead = false;
      this.#handler?.delivered();
    }
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  sendBytes(source: BodySource): void {
    sendBytes(this.#socket, source);
  }

  cancel(): void {
    if (this.#isReading && this.#handler !== undefined) this.#handler = CANCELLED;
    else this.destroy();
  }

  retire(): void {
    this.retiresAtMs = 0;
  }

  destroy(): void {
    this.#handler = undefined;
    this.#hadEnd = false;
    this.#socket.destroy();
  }

  /** The response is complete. The rest of the request is not sent to a server that responds early. */
  #end(): void {
    if (this.#handler === undefined) return;
    this.#handler = undefined;
    this.#hadEnd = true;
    if (!this.#isReading) this.#giveBack();
  }

  #giveBack(): void {
    this.#hadEnd = false;
    // Unsent bytes of this request would precede the next request.
    const taken = this.#requestSent && this.#socket.writableLength === 0;
    if (!taken || !this.#keepAlive) {
      this.#socket.destroy();
      return;
    }
    // The last bytes may have paused it; it must be read while it is idle and in the next exchange.
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#owner.freed(this);
  }

  #fail(why: ExchangeFailure): void {
    const handler = this.#handler;
    this.destroy();
    // A request that cannot be written was not sent. Of any other the server may have read a part.
    handler?.failed(why, why !== 'unsendable');
  }
}
