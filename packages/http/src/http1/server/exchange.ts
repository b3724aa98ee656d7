import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  NO_HANDLER,
  type CallerConnection,
  type End,
  type ServerExchange,
} from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import type { BodyBytes } from '../../message/body-bytes.ts';
import {
  chunkSizeLine,
  endOfChunks,
  fieldLines,
  NONE_PASSED,
  NOT_FIELD_TEXT,
  responseHead,
  writeBody,
} from '../../message/message-writer.ts';
import type { RequestHead } from '../../message/request-head.ts';
import {
  NO_BODY,
  WaitingBody,
  type BodyConnection,
  type ReceivedBody,
} from '../../message/waiting-body.ts';

/** What an exchange needs from its connection. */
export interface ExchangeConnection extends CallerConnection, BodyConnection {
  readonly socket: Socket;
  /** The value of `Date` for now (RFC 9110 section 6.6.1). */
  readonly date: () => string;
  /** Whether the request allows the connection to persist. */
  readonly keepAlive: boolean;
  /** The whole response was written to the socket. `last` means that the connection ends after it. */
  responseSent(last: boolean): void;
  /** The connection is a tunnel from here on: whatever arrives is passed to the body of the exchange. */
  becomeTunnel(): void;
}

type Framing = 'none' | 'length' | 'chunked' | 'until_close';

const NOT_IN_SWITCHING = new Set(['connection', 'content-length']);

/** A request and its response. The framing of the response is decided only here (RFC 9112 section 6). */
export class Http1Exchange implements ServerExchange {
  readonly head: RequestHead;
  body: ReceivedBody;
  readonly connection: ExchangeConnection;
  handler = NO_HANDLER;
  hasResponded = false;
  /** The head until it is sent; each character is one byte. */
  #head = '';
  #framing: Framing = 'none';
  #last = false;
  #hasEnded = false;
  #hasClosed = false;
  #isBlocked = false;
  /** Whether the system has taken the head of a 101. */
  #hasSwitched = false;
  #abortedBy: End | undefined = undefined;

  constructor(head: RequestHead, connection: ExchangeConnection) {
    this.head = head;
    this.connection = connection;
    this.body = head.framing.kind === 'none' ? NO_BODY : new WaitingBody(connection);
  }

  /** Whether the head was written to the socket. */
  get isBegun(): boolean {
    return this.hasResponded && this.#head === '';
  }

  sendInterim(status: 100 | 103, fields: HeaderFields): boolean {
    if (this.isClosed || this.hasResponded || this.head.httpVersion === '1.0') return true;
    const { socket } = this.connection;
    if (status !== 100 && socket.writableNeedDrain) return false;
    socket.write(responseHead(status, fields), 'latin1');
    return true;
  }

  get isClosed(): boolean {
    return this.#hasClosed || this.#abortedBy !== undefined;
  }

  respond(
    status: number,
    statusText: string,
    fields: HeaderFields,
    last: boolean,
    passed = NONE_PASSED,
  ): void {
    if (status === 101) {
      this.#switchProtocols(passed.fields.concat(fields));
      return;
    }
    let { hasLength, hasDate } = passed;
    let ends = !this.connection.keepAlive;
    const lines = fieldLines(fields, NOT_FIELD_TEXT, (name, value) => {
      if (name.length === 14) hasLength ||= name.toLowerCase() === 'content-length';
      else if (name.length === 4) hasDate ||= name.toLowerCase() === 'date';
      // `Connection` is a field of the server itself. It is only used to close the connection.
      else if (name === 'Connection' || name === 'connection') {
        ends ||= value === 'close';
        return false;
      }
      return true;
    });
    // A response that came over HTTP/2 has no reason phrase.
    const reason = statusText === '' ? (STATUS_CODES[status] ?? '') : statusText;
    let head = `HTTP/1.1 ${status} ${reason}\r\n${passed.lines}${lines}`;
    if (!hasDate) head += `Date: ${this.connection.date()}\r\n`;
    this.#framing = this.#framingOf(status, hasLength);
    if (this.#framing === 'chunked') head += 'Transfer-Encoding: chunked\r\n';
    this.#last = ends || this.#framing === 'until_close';
    if (this.#last) head += 'Connection: close\r\n';
    else head += 'Connection: keep-alive\r\n';
    this.#head = `${head}\r\n`;
    this.hasResponded = true;
    if (last) this.send('', true);
  }

  /** RFC 9110 section 7.8. A 101 has no length (section 8.6). */
  #switchProtocols(fields: HeaderFields): void {
    const { connection, head } = this;
    const start = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${head.upgrade}`;
    const lines = fieldLines(
      fields,
      NOT_FIELD_TEXT,
      (name) => !NOT_IN_SWITCHING.has(name.toLowerCase()),
    );
    this.hasResponded = true;
    if (this.isClosed) return;
    this.#framing = 'until_close';
    this.#last = true;
    this.body = new WaitingBody(connection);
    connection.socket.write(`${start}\r\n${lines}\r\n`, 'latin1', (error) => {
      this.#hasSwitched = error === undefined || error === null;
    });
    connection.becomeTunnel();
  }

  /** RFC 9112 section 6.3. */
  #framingOf(status: number, hasLength: boolean): Framing {
    const { method, httpVersion } = this.head;
    if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return 'none';
    if (hasLength) return 'length';
    return httpVersion === '1.1' ? 'chunked' : 'until_close';
  }

  flush(): void {
    if (this.#head === '' || this.isClosed) return;
    this.connection.socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  send(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): boolean {
    if (this.isClosed || this.#hasEnded) return true;
    let more = true;
    const end = last && this.#framing === 'chunked' ? endOfChunks(trailers) : '';
    if (bytes.length > 0 && this.#framing !== 'none') more = this.#write(bytes, end);
    else if (last) this.#writeEnd(end);
    if (last) this.#end();
    this.#isBlocked = !more;
    return more;
  }

  /** Writes the head if it is not sent yet, a part of the body in its framing, and the end of the body. */
  #write(bytes: BodyBytes, end: string): boolean {
    const { socket } = this.connection;
    const head = this.#head;
    this.#head = '';
    if (this.#framing !== 'chunked') return writeBody(socket, bytes, head);
    const before = head + chunkSizeLine(bytes.length);
    return writeBody(socket, bytes, before, end === '' ? '\r\n' : `\r\n${end}`);
  }

  #writeEnd(end: string): void {
    const text = this.#head + end;
    this.#head = '';
    if (text !== '') this.connection.socket.write(text, 'latin1');
  }

  #end(): void {
    this.#hasEnded = true;
    const { socket } = this.connection;
    if (socket.writableLength === 0) this.#finish();
    // The callback of an empty write runs after all earlier writes, with the error of the one that failed.
    else {
      socket.write('', 'latin1', (error) => {
        if (error === undefined || error === null) this.#finish();
      });
    }
  }

  abort(end: Exclude<End, 'complete'>): void {
    if (this.isClosed) return;
    this.#abortedBy = end;
    abortConnection(this.connection.socket, this.head.httpVersion);
  }

  /** The socket accepts more. */
  drained(): void {
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    this.handler.writable();
  }

  /** The connection is closed, or abandons this response; `error`: that of the connection. */
  gone(error?: Error): void {
    const end = this.connection.guard.endReason ?? this.#abortedBy ?? 'peer_left';
    this.#close(this.#hasSwitched ? 'complete' : end, error);
  }

  /**
   * The socket has taken all of the response. If it failed or was destroyed meanwhile, it has dropped the rest; then the
   * response ends with the connection.
   */
  #finish(): void {
    if (this.isClosed || !this.connection.socket.writable) return;
    this.#close('complete');
    this.connection.responseSent(this.#last);
  }

  #close(end: End, error?: Error): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    try {
      this.handler.closed(end, error);
    } catch (failure) {
      // It must not reach the caller, which may be a part of the upstream's exchange.
      this.connection.guard.fail(failure);
    }
  }
}

/**
 * Ends a connection so that the response on it cannot look complete. In HTTP/1.0 the end of the connection may be the
 * end of the body (RFC 9112 section 6.3), so the connection is reset. A TLS connection does not need a reset: without a
 * closure alert its end is incomplete (RFC 9112 section 9.8).
 */
function abortConnection(socket: Socket, httpVersion: string): void {
  if (httpVersion !== '1.0' || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
