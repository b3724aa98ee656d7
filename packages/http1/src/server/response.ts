import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** What a response asks of its connection. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** The value of `Date` for now (RFC 9110 section 6.6.1). */
  readonly date: string;
  /** Whether the connection may go on after this response, as far as the request says. */
  readonly keepAlive: boolean;
  /** All of the response was handed to the socket; `last` where the connection ends with it. */
  responseSent(last: boolean): void;
  /** The response was given up: the connection must end so that it cannot look complete. */
  breakOff(): void;
}

export interface AnsweredRequest {
  readonly method: string;
  readonly httpVersion: string;
}

/** Up to this size bytes are joined to the head, so that both go out in one write. */
const JOINED_BYTES = 16 * 1024;
const UNSOUND_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** The response to a request of HTTP/1.1. The framing is made here and nowhere else (RFC 9112 section 6). */
export class ServerResponse {
  headersSent = false;
  writableFinished = false;
  readonly #connection: ResponseConnection;
  readonly #request: AnsweredRequest;
  /** Written, and not yet handed to the socket; one character a byte. */
  #head = '';
  #framing: 'none' | 'length' | 'chunked' | 'until_close' = 'none';
  #last = false;
  #ended = false;
  #gone = false;
  #onClose: (() => void)[] = [];
  #onDrain: (() => void)[] = [];
  #onError: ((error: Error) => void) | undefined = undefined;

  constructor(request: AnsweredRequest, connection: ResponseConnection) {
    this.#request = request;
    this.#connection = connection;
  }

  get destroyed(): boolean {
    return this.#gone;
  }

  writeContinue(): void {
    if (!this.#gone) this.#connection.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
  }

  writeHead(status: number, text: string | string[], fields?: string[]): void {
    if (typeof text === 'string') this.#writeHead(status, text, fields ?? []);
    else this.#writeHead(status, STATUS_CODES[status] ?? '', text);
  }

  /** @throws Error where a field would not be one field */
  #writeHead(status: number, statusText: string, fields: readonly string[]): void {
    let hasLength = false;
    let hasDate = false;
    let last = !this.#connection.keepAlive;
    let head = `HTTP/1.1 ${status} ${statusText}\r\n`;
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? '';
      const value = fields[index + 1] ?? '';
      if (UNSOUND_VALUE.test(value)) throw new Error(`the field ${name} holds a control character`);
      if (name.length === 14) hasLength ||= name.toLowerCase() === 'content-length';
      else if (name.length === 4) hasDate ||= name.toLowerCase() === 'date';
      // Of the gateway's own; an upstream's ends at the gateway.
      else if (name === 'Connection' || name === 'connection') {
        last ||= value === 'close';
        continue;
      }
      // From the left, piece by piece: such a text is copied into the socket's buffer fastest.
      head = head + name + ': ' + value + '\r\n';
    }
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
  #framingOf(status: number, hasLength: boolean): 'none' | 'length' | 'chunked' | 'until_close' {
    const { method, httpVersion } = this.#request;
    if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return 'none';
    if (hasLength) return 'length';
    return httpVersion === '1.1' ? 'chunked' : 'until_close';
  }

  flushHeaders(): void {
    if (this.#head === '' || this.#gone) return;
    this.#connection.socket.write(this.#head, 'latin1');
    this.#head = '';
  }

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
    const end = this.#framing === 'chunked' ? '0\r\n\r\n' : '';
    if (chunk.length > 0 && this.#framing !== 'none') this.#send(chunk, encoding, end);
    else if (this.#head !== '' || end !== '') {
      this.#connection.socket.write(this.#head + end, 'latin1');
      this.#head = '';
    }
    const { socket } = this.#connection;
    if (socket.writableLength === 0) this.#finish();
    // An empty write behind the others tells when they are out.
    else socket.write('', 'latin1', () => this.#finish());
  }

  /** Sends the head, if it is still here, a piece of the body in its framing, and what ends it. */
  #send(chunk: Buffer | string, encoding: 'latin1' | 'utf8', end: string): boolean {
    const { socket } = this.#connection;
    const bytes = typeof chunk === 'string' && encoding === 'utf8' ? Buffer.from(chunk) : chunk;
    const chunked = this.#framing === 'chunked';
    const before = chunked ? `${this.#head}${bytes.length.toString(16)}\r\n` : this.#head;
    const after = chunked ? `\r\n${end}` : end;
    this.#head = '';
    if (bytes.length <= JOINED_BYTES && (before !== '' || after !== '')) {
      const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
      return socket.write(before + text + after, 'latin1');
    }
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    let more = typeof bytes === 'string' ? socket.write(bytes, 'latin1') : socket.write(bytes);
    if (after !== '') more = socket.write(after, 'latin1');
    socket.uncork();
    return more;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    if (event === 'close') this.#onClose.push(listener);
    else this.#onDrain.push(listener);
    return this;
  }

  on(_event: 'error', listener: (error: Error) => void): this {
    this.#onError = listener;
    return this;
  }

  destroy(): void {
    if (this.#gone || this.writableFinished) return;
    this.#gone = true;
    this.#connection.breakOff();
  }

  /** The socket takes more. */
  drained(): void {
    const listeners = this.#onDrain;
    this.#onDrain = [];
    for (const listener of listeners) listener();
  }

  /** The connection failed. */
  failed(error: Error): void {
    this.#onError?.(error);
  }

  /** The connection is gone, or gives this response up. */
  gone(): void {
    if (this.writableFinished) return;
    this.#gone = true;
    this.#close();
  }

  #finish(): void {
    if (this.#gone) return;
    this.writableFinished = true;
    this.#close();
    this.#connection.responseSent(this.#last);
  }

  #close(): void {
    const listeners = this.#onClose;
    this.#onClose = [];
    for (const listener of listeners) listener();
  }
}
