import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionGuard, EndReason } from '../connection-guard.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { BodyBytes } from '../message/body-bytes.ts';
import {
  chunkSizeLine,
  CONTINUE,
  headLines,
  LAST_CHUNK,
  NOT_FIELD_TEXT,
} from '../message/message-writer.ts';
import { writeBody } from '../message/write-body.ts';

/** What a response needs from its connection. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** The value of `Date` for now (RFC 9110 section 6.6.1). */
  readonly date: string;
  /** Whether the request allows the connection to persist. */
  readonly keepAlive: boolean;
  /** The whole response was written to the socket. `last` means that the connection ends after it. */
  responseSent(last: boolean): void;
  /** For what handles the response. */
  readonly guard: ConnectionGuard;
  /** The response was aborted: the connection must end so that it cannot look complete. */
  abort(): void;
}

/** The part of a request that its response depends on. */
export interface AnsweredRequest {
  readonly method: string;
  readonly httpVersion: string;
}

type Framing = 'none' | 'length' | 'chunked' | 'until_close';

/** The response to a request. Its framing is decided only here (RFC 9112 section 6). */
export class ServerResponse {
  headersSent = false;
  /** Whether the system has taken the whole response. */
  writableFinished = false;
  readonly #connection: ResponseConnection;
  readonly #request: AnsweredRequest;
  /** The head until it is sent; each character is one byte. */
  #head = '';
  #framing: Framing = 'none';
  #last = false;
  #ended = false;
  #gone = false;
  #endReason: EndReason | undefined = undefined;
  /** One function, which calls all listeners: most responses have one, and a list for it would be kept as long. */
  #onClose: (() => void) | undefined = undefined;
  #onDrain: (() => void) | undefined = undefined;
  #onError: ((error: Error) => void) | undefined = undefined;

  constructor(request: AnsweredRequest, connection: ResponseConnection) {
    this.#request = request;
    this.#connection = connection;
  }

  get destroyed(): boolean {
    return this.#gone;
  }

  /** Why the gateway ended the response or its connection, if it did so before the response was complete. */
  get endReason(): EndReason | undefined {
    return this.#endReason ?? this.#connection.guard.endReason;
  }

  /** Whether the head was written to the socket. */
  get isBegun(): boolean {
    return this.headersSent && this.#head === '';
  }

  writeContinue(): void {
    if (!this.#gone) this.#connection.socket.write(CONTINUE, 'latin1');
  }

  /** @throws UnsendableError if a value contains a control character */
  writeHead(status: number, fields: HeaderFields): void;
  writeHead(status: number, statusText: string, fields: HeaderFields): void;
  writeHead(status: number, text: string | HeaderFields, fields?: HeaderFields): void {
    if (typeof text === 'string') this.#writeHead(status, text, fields ?? []);
    else this.#writeHead(status, STATUS_CODES[status] ?? '', text);
  }

  #writeHead(status: number, statusText: string, fields: HeaderFields): void {
    let hasLength = false as boolean;
    let hasDate = false as boolean;
    let last = !this.#connection.keepAlive;
    let head = headLines(
      `HTTP/1.1 ${status} ${statusText}`,
      fields,
      NOT_FIELD_TEXT,
      (name, value) => {
        if (name.length === 14) hasLength ||= name.toLowerCase() === 'content-length';
        else if (name.length === 4) hasDate ||= name.toLowerCase() === 'date';
        // `Connection` is a field of the server itself. It is only used to close the connection.
        else if (name === 'Connection' || name === 'connection') {
          last ||= value === 'close';
          return false;
        }
        return true;
      },
    );
    if (!hasDate) head += `Date: ${this.#connection.date}\r\n`;
    this.#framing = this.#framingOf(status, hasLength);
    if (this.#framing === 'chunked') head += 'Transfer-Encoding: chunked\r\n';
    this.#last = last || this.#framing === 'until_close';
    if (this.#last) head += 'Connection: close\r\n';
    else head += 'Connection: keep-alive\r\n';
    this.#head = `${head}\r\n`;
    this.headersSent = true;
  }

  /** RFC 9112 section 6.3. */
  #framingOf(status: number, hasLength: boolean): Framing {
    const { method, httpVersion } = this.#request;
    if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return 'none';
    if (hasLength) return 'length';
    return httpVersion === '1.1' ? 'chunked' : 'until_close';
  }

  /** Sends the head now, without waiting for the body. */
  flushHeaders(): void {
    if (this.#head === '' || this.#gone) return;
    this.#connection.socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  /**
   * Copies what it does not send at once if the chunk lies in the read buffer. If `write` returns false, the caller does
   * not read fast enough. Then wait for `drain`.
   */
  write(chunk: Buffer | string, encoding: 'latin1' | 'utf8' = 'utf8'): boolean {
    if (this.#gone || this.#ended) return true;
    if (this.#framing === 'none' || chunk.length === 0) {
      this.flushHeaders();
      return true;
    }
    return this.#send(chunk, encoding, '');
  }

  end(chunk: Buffer | string = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (this.#gone || this.#ended) return;
    this.#ended = true;
    const end = this.#framing === 'chunked' ? LAST_CHUNK : '';
    if (chunk.length > 0 && this.#framing !== 'none') this.#send(chunk, encoding, end);
    else if (this.#head !== '' || end !== '') {
      this.#connection.socket.write(this.#head + end, 'latin1');
      this.#head = '';
    }
    const { socket } = this.#connection;
    if (socket.writableLength === 0) this.#finish();
    // The callback of an empty write runs after all earlier writes, with the error of the one that failed.
    else {
      socket.write('', 'latin1', (error) => {
        if (error === undefined || error === null) this.#finish();
      });
    }
  }

  /** Sends the head if it is not sent yet, a part of the body in its framing, and the end of the body. */
  #send(chunk: Buffer | string, encoding: 'latin1' | 'utf8', end: string): boolean {
    const isUtf8 = typeof chunk === 'string' && encoding === 'utf8';
    const bytes: BodyBytes = isUtf8 ? Buffer.from(chunk) : chunk;
    const chunked = this.#framing === 'chunked';
    const before = chunked ? this.#head + chunkSizeLine(bytes.length) : this.#head;
    this.#head = '';
    return writeBody(this.#connection.socket, bytes, before, chunked ? `\r\n${end}` : end);
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    if (event === 'close') this.#onClose = bothOf(this.#onClose, listener);
    else this.#onDrain = bothOf(this.#onDrain, listener);
    return this;
  }

  on(_event: 'error', listener: (error: Error) => void): this {
    this.#onError = listener;
    return this;
  }

  /** Ends the response so that it cannot look complete. */
  destroy(reason?: EndReason): void {
    if (this.#gone || this.writableFinished) return;
    this.#gone = true;
    this.#endReason = reason;
    this.#connection.abort();
  }

  /** The socket accepts more. */
  drained(): void {
    const listener = this.#onDrain;
    this.#onDrain = undefined;
    listener?.();
  }

  /** The connection failed. */
  failed(error: Error): void {
    this.#onError?.(error);
  }

  /** The connection is closed, or abandons this response. */
  gone(): void {
    if (this.writableFinished) return;
    this.#gone = true;
    this.#close();
  }

  /**
   * The socket has taken all of the response. If it failed or was destroyed meanwhile, it has dropped the rest; then the
   * response ends with the connection.
   */
  #finish(): void {
    if (this.#gone || !this.#connection.socket.writable) return;
    this.writableFinished = true;
    this.#close();
    this.#connection.responseSent(this.#last);
  }

  #close(): void {
    const listener = this.#onClose;
    this.#onClose = undefined;
    try {
      listener?.();
    } catch (error) {
      // It must not reach the caller, which may be a part of the upstream's exchange.
      this.#connection.guard.fail(error);
    }
  }
}

function bothOf(first: (() => void) | undefined, second: () => void): () => void {
  if (first === undefined) return second;
  return () => {
    try {
      first();
    } finally {
      second();
    }
  };
}
