import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ConnectionGuard } from '@gateway/http1/connection-guard';
import type { HeaderFields } from '@gateway/http1/fields/header-fields';
import { BodyBuffer } from '@gateway/http1/message/body-buffer';
import type { BodyFraming } from '@gateway/http1/message/framing';
import type { CallerRequest } from '../request/caller.ts';
import type { Http2RequestHead } from './fields.ts';

/** The connection that a request came on. */
export interface Http2Connection {
  readonly socket: Socket;
  /** Bytes of a body have arrived. */
  received(bytes: number): void;
  /** For what handles the request. */
  readonly guard: ConnectionGuard;
}

/** The stream is paused while more than this waits for a reader. */
const MAX_WAITING_BYTES = 64 * 1024;

/**
 * An HTTP/2 request. Its body ends only if the caller ended it: a stream that is reset, also with NO_ERROR, ends the
 * request without an `end` event, so that a part of a body is never sent on as the whole.
 */
export class Http2Request extends Readable implements CallerRequest {
  readonly httpVersion = '2.0';
  readonly method: string;
  readonly url: string;
  readonly fields: HeaderFields;
  readonly framing: BodyFraming;
  readonly socket: Socket;
  readonly guard: ConnectionGuard;
  readonly #stream: ServerHttp2Stream;
  readonly #connection: Http2Connection;
  #reading = false;
  /** What arrived while nothing read it. A queue of `push` would need many times its bytes for small frames. */
  #waiting: BodyBuffer | undefined = undefined;
  #waitingBytes = 0;

  constructor(stream: ServerHttp2Stream, head: Http2RequestHead, connection: Http2Connection) {
    super({ highWaterMark: MAX_WAITING_BYTES });
    this.method = head.method;
    this.url = head.url;
    this.fields = head.fields;
    this.framing = head.framing;
    this.socket = connection.socket;
    this.guard = connection.guard;
    this.#connection = connection;
    this.#stream = stream;
    // From the start, because an empty body may end in one read with the head, before anything reads it.
    stream.once('end', () => {
      if (stream.aborted) return;
      this.#pushWaiting();
      this.push(null);
    });
    stream.once('close', () => {
      if (!this.readableEnded) this.destroy();
    });
  }

  /** Whether the whole body has arrived, or no more can arrive. */
  get complete(): boolean {
    return this.#stream.readableEnded || this.#stream.destroyed;
  }

  /** A malformed body resets its stream (RFC 9113 section 8.1.1), so no response can be sent. */
  get lost(): 'left' | undefined {
    return this.destroyed && !this.readableEnded ? 'left' : undefined;
  }

  /** Never available: the body arrives in separate frames after the head. */
  takeWhole(): undefined {
    return undefined;
  }

  /** The window of the stream bounds how much arrives. */
  dropRest(): void {
    this.resume();
  }

  override emit(event: string | symbol, ...values: unknown[]): boolean {
    try {
      return super.emit(event, ...values);
    } catch (error) {
      this.guard.fail(error);
      return true;
    }
  }

  override resume(): this {
    super.resume();
    // Not at once, because the caller of `resume` may pause again.
    if (this.#waiting !== undefined) process.nextTick(() => this.#readLater());
    return this;
  }

  /** Node asks for more during a pause too; what arrives then waits. */
  override _read(): void {
    if (!this.#reading) this.#startReading();
    else if (this.#waitingBytes <= MAX_WAITING_BYTES) this.#stream.resume();
  }

  #startReading(): void {
    this.#reading = true;
    const stream = this.#stream;
    stream.on('data', (chunk: Buffer) => {
      this.#connection.received(chunk.length);
      if (this.readableFlowing !== true || this.#waiting !== undefined) this.#wait(chunk);
      else if (!this.push(chunk)) stream.pause();
    });
  }

  #wait(chunk: Buffer): void {
    this.#waiting ??= new BodyBuffer();
    this.#waiting.add(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#stream.pause();
  }

  #readLater(): void {
    try {
      this.#readWaiting();
    } catch (error) {
      this.guard.fail(error);
    }
  }

  #readWaiting(): void {
    if (this.readableFlowing === true && !this.destroyed && this.#pushWaiting()) {
      this.#stream.resume();
    }
  }

  /** Returns whether the stream may be read on. */
  #pushWaiting(): boolean {
    const parts = this.#waiting?.parts() ?? [];
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    let more = true;
    for (const part of parts) more = this.push(part);
    return more;
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#waiting = undefined;
    // Bytes that still arrive are dropped.
    this.#stream.removeAllListeners('data').resume();
    callback(error);
  }
}
