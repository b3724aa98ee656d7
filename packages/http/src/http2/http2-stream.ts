import type { End } from '../exchange.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import type { BodyBytes } from '../message/body-bytes.ts';
import { isInReadBuffer, toStayValid } from '../message/read-buffer.ts';
import { STATE, type StreamState } from './stream-state.ts';
import type { ReceiveWindow } from './windows.ts';

/** Its sender has to wait while more than this waits for the peer. */
const MAX_WAITING_BYTES = 64 * 1024;
const MAX_JOINED_BYTES = 4 * 1024;

/** What a stream asks of its session. */
export interface StreamSession {
  /** The stream has a head, or bytes, to send. */
  changed(stream: Http2Stream): void;
  /** Encodes now what can be sent, because the bytes are valid only until this returns. */
  encode(): void;
  /** Bytes of the body were read, or dropped. */
  read(stream: Http2Stream, bytes: number): void;
}

/** One stream, at either end: a message that is received, and a message that is sent. The session owns its state. */
export abstract class Http2Stream {
  /** 0 until the head of a request was sent, because ids must be sent in order (RFC 9113 section 5.1.1). */
  id: number;
  state: StreamState = STATE.open;
  isClosed = false;

  // What is received.
  /** The window of the body; undefined before the head has arrived, and if the message ended with it. */
  window: ReceiveWindow | undefined = undefined;
  /** How much of the announced length has not arrived; undefined if none was announced. */
  missingBytes: number | undefined = undefined;
  /** Whether a part of the body was passed on before its end. */
  hasPassedBody = false;

  // What is sent.
  /** How much the peer allows. */
  sendWindow: number;
  /** That of a response. The fields of a request begin with its pseudo-header fields. */
  status: number | undefined = undefined;
  /** The fields of a head that was not sent yet. */
  fields: HeaderFields | undefined = undefined;
  /** The fields after the body (RFC 9113 section 8.1). */
  trailers: HeaderFields | undefined = undefined;
  isLast = false;
  /** Whether it waits for its turn. */
  isQueued = false;
  /** Whether what sends the body waits for `writable`. */
  isWaiting = false;
  /** The first part that was not sent, from a position, and those after it. */
  part: BodyBytes = '';
  partAt = 0;
  moreParts: BodyBytes[] | undefined = undefined;
  waitingBytes = 0;
  sentBytes = 0;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  protected abstract get session(): StreamSession;
  /** A part of the body has arrived; it is valid until this returns. */
  abstract received(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void;
  /** After a wait the peer takes more. */
  abstract writable(): void;
  /** The stream is closed. Called once. */
  abstract closed(end: End): void;

  /** Whether what arrives is dropped, and its window is not enlarged. */
  get isUnwanted(): boolean {
    return false;
  }

  /** Whether a head or a part of the body waits, or the end that follows them. */
  get isPending(): boolean {
    return this.fields !== undefined || this.waitingBytes > 0 || this.#endWaits;
  }

  get #endWaits(): boolean {
    return this.isLast && (this.state === STATE.open || this.state === STATE.halfClosedRemote);
  }

  /** A part of the body to send. Returns false if the peer does not read fast enough; `writable` is called when it does. */
  protected sendPart(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): boolean {
    this.#add(bytes);
    this.isLast = last;
    this.trailers = trailers;
    this.session.changed(this);
    if (typeof bytes !== 'string') this.#keepValid(bytes);
    this.isWaiting = this.waitingBytes > MAX_WAITING_BYTES;
    return !this.isWaiting || this.isClosed;
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
    this.session.encode();
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

  /** Forgets what was not sent. */
  dropOutput(): void {
    this.fields = this.trailers = this.moreParts = undefined;
    this.part = '';
    this.partAt = this.waitingBytes = 0;
  }
}
