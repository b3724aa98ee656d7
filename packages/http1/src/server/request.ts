import type { Socket } from 'node:net';
import type { HeaderFields } from '../fields/header-fields.ts';
import { BodyBuffer } from '../message/body-buffer.ts';
import { toBuffer, type BodyBytes } from '../message/body-bytes.ts';
import type { BodyFraming } from '../message/framing.ts';
import type { RequestHead } from '../message/request-head.ts';

/** What a request needs of its connection. */
export interface RequestConnection {
  readonly socket: Socket;
  /** Stops or resumes reading of the body. */
  holdBody(hold: boolean): void;
  /** Bytes of a body came that nobody wants. */
  dropped(bytes: number): void;
}

/** When more of a body than this waits here, its connection is not read. */
const MAX_WAITING_BYTES = 64 * 1024;

type Listener = (chunk: Buffer) => void;
type EventName = 'data' | 'end' | 'close' | 'error';

/**
 * A request. Nothing of its body is emitted before somebody listens; until then it waits, up to a bound beyond which
 * the connection is not read.
 */
export class ServerRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly fields: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether all of it has arrived. */
  complete = false;
  readableEnded = false;
  /**
   * Why no more of it comes, if it ended early; it emits nothing more then. If its body is `malformed` the caller is
   * still there and needs an answer.
   */
  lost: 'left' | 'malformed' | undefined = undefined;
  readonly #connection: RequestConnection;
  readonly #listeners: Partial<Record<EventName, Listener[]>> = {};
  /** A string is all of the body: it came with the head. */
  #waiting: BodyBuffer | string | undefined = undefined;
  /** The parts of what waits that are being emitted, the next one last. */
  #parts: Buffer[] = [];
  #waitingBytes = 0;
  /** undefined: nobody has listened, paused or resumed yet. */
  #flowing: boolean | undefined = undefined;
  #unwanted = false;

  constructor(head: RequestHead, connection: RequestConnection) {
    this.method = head.method;
    this.url = head.url;
    this.httpVersion = head.httpVersion;
    this.fields = head.fields;
    this.framing = head.framing;
    this.#connection = connection;
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  /**
   * The whole body, if all of it has arrived, it is not longer than `maxBytes` and nobody has begun to read it. The
   * request is at its end then and emits nothing.
   */
  takeWhole(maxBytes: number): BodyBytes | undefined {
    if (!this.complete || this.#flowing !== undefined || this.#waitingBytes > maxBytes)
      return undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    this.readableEnded = true;
    return typeof waiting === 'string' ? waiting : (waiting?.whole() ?? EMPTY);
  }

  on(event: EventName, listener: Listener): this {
    // A new list: a listener that is added within an event does not get that event.
    this.#listeners[event] = [...(this.#listeners[event] ?? []), listener];
    if (event === 'data' && this.#flowing !== false) this.resume();
    return this;
  }

  once(event: 'end' | 'close', listener: () => void): this {
    const once = () => {
      this.off(event, once);
      listener();
    };
    return this.on(event, once);
  }

  off(event: EventName, listener: Listener): this {
    const listeners = this.#listeners[event];
    const index = listeners?.indexOf(listener) ?? -1;
    if (index !== -1) this.#listeners[event] = listeners?.toSpliced(index, 1) ?? [];
    return this;
  }

  pause(): this {
    this.#flowing = false;
    return this;
  }

  resume(): this {
    if (this.#flowing === true) return this;
    this.#flowing = true;
    // Not at once: the one who resumes may pause again in the same call.
    if (this.lost === undefined) process.nextTick(() => this.#flow());
    return this;
  }

  isPaused(): boolean {
    return this.#flowing === false;
  }

  /** Nobody wants the rest of the body: it is read and dropped, slowly. */
  dropRest(): void {
    this.#unwanted = true;
    this.resume();
  }

  /** Some of the body has arrived. */
  received(chunk: Buffer): void {
    if (this.#unwanted) this.#connection.dropped(chunk.length);
    if (this.#flowing === true && this.#waitingBytes === 0) {
      this.#emit('data', chunk);
      return;
    }
    if (!(this.#waiting instanceof BodyBuffer)) this.#waiting = new BodyBuffer();
    this.#waiting.add(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#connection.holdBody(true);
  }

  /** All of the body has arrived, before anybody could listen; one character a byte. */
  receivedWhole(text: string): void {
    this.#waiting = text;
    this.#waitingBytes = text.length;
  }

  /** All of the request has arrived. */
  ended(): void {
    this.complete = true;
    // What follows belongs to another request, whether anyone reads this body or not.
    this.#connection.holdBody(false);
    if (this.#flowing === true && this.#waitingBytes === 0) this.#end();
  }

  /** No more of it comes: the connection is closed, or the body is malformed. */
  gone(why: 'left' | 'malformed'): void {
    if (this.complete || this.lost !== undefined) return;
    this.lost = why;
    this.#waiting = undefined;
    this.#parts = [];
    this.#emit('close', EMPTY);
  }

  #flow(): void {
    while (this.#flowing === true && this.lost === undefined) {
      const part = this.#next();
      if (part === undefined) {
        this.#connection.holdBody(false);
        if (this.complete) this.#end();
        return;
      }
      this.#emit('data', part);
    }
  }

  #next(): Buffer | undefined {
    if (this.#parts.length === 0 && this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      this.#parts =
        typeof waiting === 'string' ? [toBuffer(waiting)] : waiting.parts().toReversed();
    }
    const part = this.#parts.pop();
    this.#waitingBytes -= part?.length ?? 0;
    return part;
  }

  #end(): void {
    if (this.readableEnded) return;
    this.readableEnded = true;
    this.#emit('end', EMPTY);
  }

  #emit(event: EventName, chunk: Buffer): void {
    for (const listener of this.#listeners[event] ?? []) listener(chunk);
  }
}

const EMPTY = Buffer.alloc(0);
