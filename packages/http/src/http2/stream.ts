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
import {
  NO_BODY,
  WaitingBody,
  type BodyConnection,
  type BodyGate,
  type ReceivedBody,
} from '../message/waiting-body.ts';
import type { RequestHead } from '../message/request-head.ts';
import { Http2Stream, type StreamSession } from './http2-stream.ts';
import { STATE } from './stream-state.ts';

/** Statuses without a body (RFC 9110 section 6.4.1, and 205 by section 15.3.6). */
const BODILESS = new Set([204, 205, 304]);
const LENGTH = new Set(['content-length']);
const NOT_IN_TUNNEL = new Set(['content-length', 'sec-websocket-accept']);

/** What a stream asks of its connection. */
export interface StreamConnection extends CallerConnection, StreamSession {
  /** Returns false if it was dropped. */
  interim(stream: Stream, status: number, fields: HeaderFields): boolean;
  abort(stream: Stream, end: Exclude<End, 'complete'>): void;
  /** The current Date (RFC 9110 section 5.6.7). */
  date(): string;
}

/** One stream: a request that is received, and the response that is sent. */
export class Stream extends Http2Stream implements ServerExchange, BodyConnection, BodyGate {
  readonly head: RequestHead;
  readonly body: ReceivedBody;
  readonly connection: StreamConnection;
  handler: ServerExchangeHandler = NO_HANDLER;
  /** Whether the handler was told of the request. */
  isDispatched = false;
  hasResponded = false;
  isBodiless = false;
  /** Whether the bytes after the heads belong to another protocol. */
  isTunnel = false;
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
    super(id, sendWindow);
    this.head = head;
    this.body = hasBody ? new WaitingBody(this) : NO_BODY;
    this.connection = connection;
  }

  protected override get session(): StreamSession {
    return this.connection;
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

  override received(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.body.received(bytes, last, trailers);
  }

  override writable(): void {
    this.handler.writable();
  }

  override closed(end: End): void {
    // A tunnel is complete, however it ends, once its head was sent.
    const outcome = this.isTunnel && this.fields === undefined ? 'complete' : end;
    this.guard.run(() => {
      if (end === 'complete') this.body.discard();
      else this.body.fail(end);
    });
    if (!this.isDispatched) return;
    this.guard.run(() => {
      this.handler.closed(outcome);
    });
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

  send(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): boolean {
    if (this.isClosed || this.isLast) return true;
    if (trailers === undefined || !last || this.isTunnel) return this.sendPart(bytes, last);
    checkFields(trailers);
    return this.sendPart(bytes, last, trailers);
  }

  /** The connection writes once a turn; it does not keep a head longer. */
  flush(): void {
    return undefined;
  }

  abort(end: Exclude<End, 'complete'>): void {
    if (!this.isClosed) this.connection.abort(this, end);
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
