import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { CallerRequest } from '../request/caller.ts';
import type { RequestHead } from './fields.ts';

/** The connection that a request came on. */
export interface RequestConnection {
  readonly socket: Socket;
  /** Bytes of a body have arrived. */
  received(bytes: number): void;
}

/**
 * A request of HTTP/2. Its body is over only where the caller said so: a stream that is reset, with
 * NO_ERROR too, ends the request without an end of its body, so that a part of one is never sent on as
 * the whole.
 */
export class Http2Request extends Readable implements CallerRequest {
  readonly httpVersion = '2.0';
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly socket: Socket;
  readonly #stream: ServerHttp2Stream;
  readonly #connection: RequestConnection;
  #reading = false;

  constructor(stream: ServerHttp2Stream, head: RequestHead, connection: RequestConnection) {
    super({ highWaterMark: 64 * 1024 });
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = head.rawHeaders;
    this.socket = connection.socket;
    this.#connection = connection;
    this.#stream = stream;
    stream.once('close', () => {
      if (!this.readableEnded) this.destroy();
    });
  }

  /** Also where no more can come. */
  get complete(): boolean {
    return this.#stream.readableEnded || this.#stream.destroyed;
  }

  /** What is malformed ends its stream (RFC 9113 section 8.1.1), so nobody is left to answer. */
  get lost(): 'left' | undefined {
    return this.destroyed && !this.readableEnded ? 'left' : undefined;
  }

  /** A body comes in frames of its own, after the head. */
  takeWhole(): undefined {
    return undefined;
  }

  /** How much comes is bounded by the window of its stream. */
  dropRest(): void {
    this.resume();
  }

  override _read(): void {
    const stream = this.#stream;
    if (this.#reading) {
      stream.resume();
      return;
    }
    this.#reading = true;
    stream.on('data', (chunk: Buffer) => {
      this.#connection.received(chunk.length);
      if (!this.push(chunk)) stream.pause();
    });
    stream.on('end', () => {
      if (!stream.aborted) this.push(null);
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // What still comes is dropped.
    this.#stream.removeAllListeners('data').resume();
    callback(error);
  }
}
