import type { Socket } from 'node:net';
import { toBuffer, type BodyBytes } from '../message/body-bytes.ts';
import { KeptBytes } from '../message/kept-bytes.ts';
import type { RequestHead } from '../message/request-head.ts';

/** What a request asks of its connection. */
export interface RequestConnection {
  readonly socket: Socket;
  /** Whether bytes of the body are to come, or to wait. */
  holdBody(hold: boolean): void;
  /** Bytes of a body came that nobody wants any more. */
  dropped(bytes: number): void;
}

/** As much of a body waits here before its connection is no longer read. */
const MAX_WAITING_BYTES = 64 * 1024;

type Listener = (chunk: Buffer) => void;
type EventName = 'data' | 'end' | 'close' | 'error';

/**
 * A request of HTTP/1.1. Of its body nothing is passed on before somebody listens; what comes by then
 * waits, up to a bound from which the connection is not read on.
 */
export class ServerRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly rawHeaders: string[];
  complete = false;
  readableEnded = false;
  lost: 'left' | 'malformed' | undefined = undefined;
  readonly #connection: RequestConnection;
  readonly #listeners: Partial<Record<EventName, Listener[]>> = {};
  /** A text is all of the body, as it came with the head. */
  #waiting: KeptBytes | string | undefined = undefined;
  /** Of what waits, the parts that are being passed on, the next one last. */
  #parts: Buffer[] = [];
  #waitingBytes = 0;
  /** undefined: nobody has said yet whether it is to flow. */
  #flowing: boolean | undefined = undefined;
  #unwanted = false;

  constructor(head: RequestHead, connection: RequestConnection) {
    this.method = head.method;
    this.url = head.url;
    this.httpVersion = head.httpVersion;
    this.rawHeaders = head.rawHeaders;
    this.#connection = connection;
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  /**
   * All of the body at once, where it is here, at most so long, and nobody has begun to read it. The
   * request then is at its end, and emits nothing.
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
    // A new list: whoever begins to listen within an event is not told of that one.
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
    // Whoever resumes is still at work, and may pause again.
    if (this.lost === undefined) process.nextTick(() => this.#flow());
    return this;
  }

  isPaused(): boolean {
    return this.#flowing === false;
  }

  dropRest(): void {
    this.#unwanted = true;
    this.resume();
  }

  /** Some of the body has come. */
  received(chunk: Buffer): void {
    if (this.#unwanted) this.#connection.dropped(chunk.length);
    if (this.#flowing === true && this.#waitingBytes === 0) {
      this.#emit('data', chunk);
      return;
    }
    if (!(this.#waiting instanceof KeptBytes)) this.#waiting = new KeptBytes();
    this.#waiting.add(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#connection.holdBody(true);
  }

  /** All of the body has come, before anybody could listen; one character a byte. */
  receivedWhole(text: string): void {
    this.#waiting = text;
    this.#waitingBytes = text.length;
  }

  /** All of the request has come. */
  ended(): void {
    this.complete = true;
    // No more of it comes: what follows is another request's, whoever takes this body, or nobody.
    this.#connection.holdBody(false);
    if (this.#flowing === true && this.#waitingBytes === 0) this.#end();
  }

  /** No more of it comes: the connection is gone, or what came is no body. */
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
