import type { Socket } from 'node:net';
import type { ConnectionGuard } from '../connection-guard.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { BodyBuffer } from '../message/body-buffer.ts';
import { toBuffer, type BodyBytes } from '../message/body-bytes.ts';
import type { BodyFraming } from '../message/framing.ts';
import type { RequestHead } from '../message/request-head.ts';

/** What a request needs from its connection. */
export interface RequestConnection {
  readonly socket: Socket;
  /** Stops or resumes reading of the body. */
  holdBody(hold: boolean): void;
  /** For what handles the request. */
  readonly guard: ConnectionGuard;
  /** Bytes of an unwanted body have arrived. */
  dropped(bytes: number): void;
}

/** The connection is not read while more of the body than this waits here. */
const MAX_WAITING_BYTES = 64 * 1024;

type Listener = (chunk: Buffer) => void;
type EventName = 'data' | 'end' | 'close' | 'error';

/**
 * A request. Its body waits here until there is a listener; above a limit the connection is not read.
 */
export class ServerRequest {
  readonly head: RequestHead;
  /** Whether the whole request has arrived. */
  complete = false;
  readableEnded = false;
  /**
   * Why the request ended early; it then emits nothing more. If its body is `malformed`, the caller still needs a
   * response.
   */
  lost: 'left' | 'malformed' | undefined = undefined;
  readonly #connection: RequestConnection;
  #listeners: Partial<Record<EventName, Listener[]>> | undefined = undefined;
  /** A string is the whole body, which arrived with the head. */
  #waiting: BodyBuffer | string | undefined = undefined;
  /** The waiting parts that are being emitted, the next one last. */
  #parts = NO_PARTS;
  #waitingBytes = 0;
  /** undefined before the first `on`, `pause` or `resume`. */
  #flowing: boolean | undefined = undefined;
  #unwanted = false;

  constructor(head: RequestHead, connection: RequestConnection) {
    this.head = head;
    this.#connection = connection;
  }

  get method(): string {
    return this.head.method;
  }

  get url(): string {
    return this.head.url;
  }

  get httpVersion(): string {
    return this.head.httpVersion;
  }

  get fields(): HeaderFields {
    return this.head.fields;
  }

  get framing(): BodyFraming {
    return this.head.framing;
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  get guard(): ConnectionGuard {
    return this.#connection.guard;
  }

  /**
   * Returns the whole body if it has arrived completely, is not longer than `maxBytes` and was not read before. The
   * request has then ended and emits nothing.
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

  /** A chunk of `data` is valid until the listener returns. */
  on(event: EventName, listener: Listener): this {
    // A new list: a listener that is added within an event does not get that event.
    this.#listeners ??= {};
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
    const listeners = this.#listeners;
    if (listeners !== undefined) {
      listeners[event] = (listeners[event] ?? []).filter((one) => one !== listener);
    }
    return this;
  }

  pause(): this {
    this.#flowing = false;
    return this;
  }

  resume(): this {
    if (this.#flowing === true) return this;
    this.#flowing = true;
    // Not at once, because the caller of `resume` may pause again.
    if (this.lost === undefined) process.nextTick(() => this.#flowLater());
    return this;
  }

  isPaused(): boolean {
    return this.#flowing === false;
  }

  /** The rest of the body is unwanted: it is read slowly and dropped. */
  dropRest(): void {
    this.#unwanted = true;
    this.resume();
  }

  /** A part of the body has arrived; it is valid until the call returns. */
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

  /** The whole body has arrived with the head; each character is one byte. */
  receivedWhole(text: string): void {
    this.#waiting = text;
    this.#waitingBytes = text.length;
  }

  /** The whole request has arrived. */
  ended(): void {
    this.complete = true;
    // Further bytes belong to another request, even if this body is not read.
    this.#connection.holdBody(false);
    if (this.#flowing === true && this.#waitingBytes === 0) this.#end();
  }

  /** The request ends early: the connection is closed, or the body is malformed. */
  gone(why: 'left' | 'malformed'): void {
    if (this.complete || this.lost !== undefined) return;
    this.lost = why;
    this.#waiting = undefined;
    this.#parts = NO_PARTS;
    this.#emit('close', EMPTY);
  }

  #flowLater(): void {
    try {
      this.#flow();
    } catch (error) {
      this.guard.fail(error);
    }
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
    for (const listener of this.#listeners?.[event] ?? []) listener(chunk);
  }
}

const EMPTY = Buffer.alloc(0);
/** Shared by all requests whose body does not wait. Nothing is added to it. */
const NO_PARTS: Buffer[] = [];
