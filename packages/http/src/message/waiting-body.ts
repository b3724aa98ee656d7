import type { ConnectionGuard } from '../connection-guard.ts';
import type { BodySink, End, RequestBodySource } from '../exchange.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { BodyBuffer } from './body-buffer.ts';
import { toBuffer, type BodyBytes } from './body-bytes.ts';

/** Bounds what arrives of a body. */
export interface BodyGate {
  /** Stops or resumes reading of the body. */
  holdBody(hold: boolean): void;
  /** Bytes of an unwanted body have arrived. */
  dropped(bytes: number): void;
  /** Bytes were passed on, or have waited and are not wanted. */
  consumed(bytes: number): void;
}

/** What a body needs from its connection. */
export interface BodyConnection {
  readonly gate: BodyGate;
  readonly guard: ConnectionGuard;
}

/** The connection is not read while more of the body than this waits here. */
const MAX_WAITING_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);
/** Shared by all bodies of which nothing waits. Nothing is added to it. */
const NO_PARTS: Buffer[] = [];

/** What an engine does with the body that it receives. */
export type ReceivedBody = RequestBodySource & Pick<WaitingBody, 'received' | 'fail'>;

/** The body of all requests without one. */
export const NO_BODY: ReceivedBody = {
  ended: 'complete',
  trailers: undefined,
  takeWhole: () => EMPTY,
  start: (sink) => {
    sink.data(EMPTY, true);
  },
  pause: () => undefined,
  resume: () => undefined,
  discard: () => undefined,
  received: () => undefined,
  fail: () => undefined,
};

/** The body of a request. It waits here while nothing reads it; above a limit the connection is not read. */
export class WaitingBody implements RequestBodySource {
  ended: End | undefined = undefined;
  trailers: HeaderFields | undefined = undefined;
  readonly #connection: BodyConnection;
  #sink: BodySink | undefined = undefined;
  #isPaused = false;
  /** Whether it was taken, discarded, or passed on to its end. */
  #isOver = false;
  #isPassing = false;
  /** A string is the whole body, which arrived with the head. */
  #waiting: BodyBuffer | string | undefined = undefined;
  /** The waiting parts that are being passed on, the next one last. */
  #parts = NO_PARTS;
  #waitingBytes = 0;

  constructor(connection: BodyConnection) {
    this.#connection = connection;
  }

  takeWhole(maxBytes: number): BodyBytes | undefined {
    const isUnread = this.#sink === undefined && !this.#isOver;
    if (this.ended !== 'complete' || !isUnread || this.#waitingBytes > maxBytes) return undefined;
    const waiting = this.#waiting;
    this.#drop();
    return typeof waiting === 'string' ? waiting : (waiting?.whole() ?? EMPTY);
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    if (this.ended === undefined || this.ended === 'complete') this.#passWaiting();
    else sink.failed(this.ended);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#passWaiting();
  }

  discard(): void {
    this.#drop();
    this.#connection.gate.holdBody(false);
  }

  #drop(): void {
    if (this.#waitingBytes > 0) this.#connection.gate.consumed(this.#waitingBytes);
    this.#isOver = true;
    this.#sink = undefined;
    this.#waiting = undefined;
    this.#parts = NO_PARTS;
    this.#waitingBytes = 0;
  }

  /**
   * A part has arrived; a buffer is valid until the call returns. A string is the whole body, or empty.
   *
   * @param trailers the fields after it, if there are any; only with `last`
   */
  received(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (last) {
      this.ended = 'complete';
      this.trailers = trailers;
      // Further bytes belong to another request, even if this body is not read.
      this.#connection.gate.holdBody(false);
    }
    if (this.#isOver) {
      if (bytes.length > 0) this.#connection.gate.dropped(bytes.length);
    } else if (this.#sink !== undefined && !this.#isPaused && this.#waitingBytes === 0) {
      this.#pass(bytes, last);
    } else if (bytes.length > 0) this.#wait(bytes, last);
  }

  #wait(bytes: BodyBytes, last: boolean): void {
    this.#waitingBytes += bytes.length;
    if (typeof bytes === 'string') this.#waiting = bytes;
    else {
      if (!(this.#waiting instanceof BodyBuffer)) this.#waiting = new BodyBuffer();
      this.#waiting.add(bytes);
    }
    if (!last && this.#waitingBytes > MAX_WAITING_BYTES) this.#connection.gate.holdBody(true);
  }

  /** The request ends early: the connection is closed, or the body is malformed. */
  fail(end: End): void {
    if (this.ended !== undefined) return;
    this.ended = end;
    const sink = this.#sink;
    this.#drop();
    sink?.failed(end);
  }

  /** Called also by what reads the body, which may be a part of the upstream's exchange: an exception must not reach it. */
  #passWaiting(): void {
    // A reader that resumes within `data` gets the next part when it returns.
    if (this.#isPassing) return;
    this.#isPassing = true;
    try {
      while (!this.#isPaused && !this.#isOver && this.#waitingBytes > 0) {
        const part = this.#next();
        this.#waitingBytes -= part.length;
        this.#pass(part, this.#waitingBytes === 0 && this.ended === 'complete');
      }
      if (!this.#isPaused && !this.#isOver) {
        if (this.ended === 'complete') this.#pass(EMPTY, true);
        else this.#connection.gate.holdBody(false);
      }
    } catch (error) {
      this.#connection.guard.fail(error);
    } finally {
      this.#isPassing = false;
    }
  }

  #next(): Buffer {
    const waiting = this.#waiting;
    if (this.#parts.length === 0 && waiting !== undefined) {
      this.#waiting = undefined;
      this.#parts =
        typeof waiting === 'string' ? [toBuffer(waiting)] : waiting.parts().toReversed();
    }
    return this.#parts.pop() ?? EMPTY;
  }

  #pass(bytes: BodyBytes, last: boolean): void {
    const sink = this.#sink;
    if (last) this.#drop();
    try {
      sink?.data(bytes, last, last ? this.trailers : undefined);
    } catch (error) {
      // It has not got its end.
      if (last) sink?.failed('internal_error');
      throw error;
    }
    if (bytes.length > 0) this.#connection.gate.consumed(bytes.length);
  }
}
