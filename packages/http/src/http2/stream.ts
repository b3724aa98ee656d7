import type { ConnectionGuard } from '../connection-guard.ts';
import {
  NO_HANDLER,
  type CallerConnection,
  type End,
  type ServerExchange,
  type ServerExchangeHandler,
} from '../exchange.ts';
import { filterFields, type HeaderFields } from '../fields/header-fields.ts';
import type { BodyBytes } from '../message/body-bytes.ts';
import { NONE_PASSED, NOT_FIELD_TEXT, UnsendableError } from '../message/message-writer.ts';
import { isInReadBuffer, toStayValid } from '../message/read-buffer.ts';
import {
  NO_BODY,
  WaitingBody,
  type BodyConnection,
  type BodyGate,
  type ReceivedBody,
} from '../message/waiting-body.ts';
import type { RequestHead } from '../message/request-head.ts';
import { STATE, type StreamState } from './stream-state.ts';
import type { ReceiveWindow } from './windows.ts';

/** `send` returns false while more than this waits for the peer. */
const MAX_WAITING_BYTES = 64 * 1024;
const MAX_JOINED_BYTES = 4 * 1024;
/** Statuses without a body (RFC 9110 section 6.4.1, and 205 by section 15.3.6). */
const BODILESS = new Set([204, 205, 304]);
const LENGTH = new Set(['content-length']);
const NOT_IN_TUNNEL = new Set(['content-length', 'sec-websocket-accept']);

/** What a stream asks of its connection. */
export interface StreamConnection extends CallerConnection {
  /** The stream has a head, or bytes, to send. */
  changed(stream: Stream): void;
  /** Encodes now what can be sent, because the bytes are valid only until this returns. */
  encode(): void;
  /** Returns false if it was dropped. */
  interim(stream: Stream, status: number, fields: HeaderFields): boolean;
  abort(stream: Stream, end: Exclude<End, 'complete'>): void;
  /** The current Date (RFC 9110 section 5.6.7). */
  date(): string;
  /** Bytes of the body were read, or dropped. */
  read(stream: Stream, bytes: number): void;
}

/** One stream: a request that is received, and the response that is sent. The connection owns its state. */
export class Stream implements ServerExchange, BodyConnection, BodyGate {
  readonly id: number;
  readonly head: RequestHead;
  readonly body: ReceivedBody;
  readonly connection: StreamConnection;
  handler: ServerExchangeHandler = NO_HANDLER;
  state: StreamState = STATE.open;
  /** Whether the handler was told of the request. */
  isDispatched = false;
  hasResponded = false;
  isClosed = false;

  // What is received.
  /** The window of the body; undefined if the message ended with its head. */
  window: ReceiveWindow | undefined = undefined;
  /** The fields after the body (RFC 9113 section 8.1). */
  requestTrailers: HeaderFields = [];
  /** How much of the announced length has not arrived; undefined if none was announced. */
  missingBytes: number | undefined = undefined;

  // What is sent.
  /** How much the peer allows. */
  sendWindow: number;
  status = 0;
  /** The fields of a head that was not sent yet. */
  fields: HeaderFields | undefined = undefined;
  trailers: HeaderFields | undefined = undefined;
  isLast = false;
  isBodiless = false;
  /** Whether the bytes after the heads belong to another protocol. */
  isTunnel = false;
  /** Whether it waits for its turn. */
  isQueued = false;
  /** Whether the handler waits for `writable`. */
  isWaiting = false;
  /** The first part that was not sent, from a position, and those after it. */
  part: BodyBytes = '';
  partAt = 0;
  moreParts: BodyBytes[] | undefined = undefined;
  waitingBytes = 0;
  sentBytes = 0;
  /** For stalls: what was sent at a time, ms, monotonic. */
  checkedBytes = 0;
  checkedMs: number | undefined = undefined;

  constructor(
    id: number,
    head: RequestHead,
    connection: StreamConnection,
    sendWindow: number,
    hasBody: boolean,
  ) {
    this.id = id;
    this.head = head;
    this.body = hasBody ? new WaitingBody(this) : NO_BODY;
    this.connection = connection;
    this.sendWindow = sendWindow;
  }

  get gate(): BodyGate {
    return this;
  }

  get guard(): ConnectionGuard {
    return this.connection.guard;
  }

  /** The windows bound what waits: a peer may send more only when some of it was consumed. */
  holdBody(): void {
    return undefined;
  }

  dropped(bytes: number): void {
    this.connection.read(this, bytes);
  }

  consumed(bytes: number): void {
    this.connection.read(this, bytes);
  }

  /** Whether a head or a part of the body waits, or the end that follows them. */
  get isPending(): boolean {
    return this.fields !== undefined || this.waitingBytes > 0 || this.#endWaits;
  }

  get #endWaits(): boolean {
    return this.isLast && (this.state === STATE.open || this.state === STATE.halfClosedRemote);
  }

  sendInterim(status: 100 | 103, fields: HeaderFields): boolean {
    if (this.isClosed || this.hasResponded) return true;
    checkFields(fields);
    return this.connection.interim(this, status, fields);
  }

  respond(
    status: number,
    _text: string,
    own: HeaderFields,
    last: boolean,
    passed = NONE_PASSED,
  ): void {
    if (this.isClosed || this.hasResponded) return;
    // What is passed on was checked when it was read.
    const hasDate = checkFields(own) || passed.hasDate;
    const fields = passed.fields.length > 0 ? passed.fields.concat(own) : own;
    this.hasResponded = true;
    this.isTunnel = status === 101;
    this.isBodiless = this.head.method === 'HEAD' || BODILESS.has(status);
    // RFC 8441 section 5: a 2xx opens the tunnel, and nothing confirms the key.
    this.status = this.isTunnel ? 200 : status;
    let sent: HeaderFields = fields;
    if (this.isTunnel) sent = without(sent, NOT_IN_TUNNEL);
    // A recipient must treat a wrong length as malformed (RFC 9113 section 8.1.1).
    else if (status === 205) sent = without(sent, LENGTH);
    this.fields = hasDate ? sent : [...sent, 'date', this.connection.date()];
    this.isLast = last || this.isBodiless;
    this.connection.changed(this);
  }

  send(bytes: BodyBytes, last: boolean): boolean {
    if (this.isClosed || this.isLast) return true;
    this.#add(bytes);
    this.isLast = last;
    this.connection.changed(this);
    if (typeof bytes !== 'string') this.#keepValid(bytes);
    this.isWaiting = this.waitingBytes > MAX_WAITING_BYTES;
    return !this.isWaiting || this.isClosed;
  }

  /** Ends the response with these fields after its body (RFC 9113 section 8.1). */
  sendTrailers(fields: HeaderFields): void {
    if (this.isClosed || this.isLast || !this.hasResponded) return;
    checkFields(fields);
    this.trailers = fields;
    this.isLast = true;
    this.connection.changed(this);
  }

  /** The connection writes once a turn; it does not keep a head longer. */
  flush(): void {
    return undefined;
  }

  abort(end: Exclude<End, 'complete'>): void {
    if (!this.isClosed) this.connection.abort(this, end);
  }

  #add(bytes: BodyBytes): void {
    if (this.waitingBytes === 0) {
      this.part = bytes;
      this.partAt = 0;
    } else if (bytes.length > 0) this.#append(bytes);
    this.waitingBytes += bytes.length;
  }

  /** Short texts are joined, because each part takes much more memory than a few bytes. */
  #append(bytes: BodyBytes): void {
    const parts = (this.moreParts ??= []);
    const before = parts.at(-1);
    const isShort = bytes.length < MAX_JOINED_BYTES && (before?.length ?? 0) < MAX_JOINED_BYTES;
    if (isShort && typeof bytes === 'string' && typeof before === 'string') {
      parts[parts.length - 1] = before + bytes;
    } else parts.push(bytes);
  }

  /** Bytes that the next read overwrites are encoded now; what cannot be sent is copied. */
  #keepValid(bytes: Buffer): void {
    if (!isInReadBuffer(bytes)) return;
    this.connection.encode();
    if (this.waitingBytes === 0) return;
    if (this.part === bytes) {
      this.part = toStayValid(bytes.subarray(this.partAt));
      this.partAt = 0;
      return;
    }
    const parts = this.moreParts ?? [];
    if (parts.at(-1) === bytes) parts[parts.length - 1] = toStayValid(bytes);
  }

  /** A part was sent up to a position. */
  sent(bytes: number): void {
    this.sentBytes += bytes;
    this.waitingBytes -= bytes;
    this.partAt += bytes;
    if (this.partAt < this.part.length) return;
    this.part = this.moreParts?.shift() ?? '';
    this.partAt = 0;
  }

  /**
   * Whether the peer took less than `minBytes` of what waits for it, in the time since it was checked last or longer.
   *
   * @param nowMs monotonic
   */
  isStalled(nowMs: number, timeoutMs: number, minBytes: number): boolean {
    if (!this.isPending && this.state !== STATE.halfClosedLocal && this.state !== STATE.closed) {
      this.checkedMs = undefined;
      return false;
    }
    if (this.checkedMs === undefined || this.sentBytes - this.checkedBytes >= minBytes) {
      this.checkedMs = nowMs;
      this.checkedBytes = this.sentBytes;
      return false;
    }
    return nowMs - this.checkedMs >= timeoutMs;
  }

  /** Forgets what was not sent. */
  dropOutput(): void {
    this.fields = this.trailers = this.moreParts = undefined;
    this.part = '';
    this.partAt = this.waitingBytes = 0;
  }
}

/**
 * Returns whether there is a Date.
 *
 * @throws UnsendableError if a value has a control character, because a later hop could read another field
 */
function checkFields(fields: HeaderFields): boolean {
  let hasDate = false;
  for (let index = 1; index < fields.length; index += 2) {
    const name = fields[index - 1] ?? '';
    if (name.length === 4) hasDate ||= name.toLowerCase() === 'date';
    if (NOT_FIELD_TEXT.test(fields[index] ?? '')) {
      throw new UnsendableError(`the value of the field ${name} contains a control character`);
    }
  }
  return hasDate;
}

function without(fields: HeaderFields, names: ReadonlySet<string>): HeaderFields {
  return filterFields(fields, (name) => !names.has(name.toLowerCase()));
}
