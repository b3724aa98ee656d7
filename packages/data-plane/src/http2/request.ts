import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { HeaderFields } from '@gateway/http1/fields/header-fields';
import type { BodyFraming } from '@gateway/http1/message/framing';
import type { CallerRequest } from '../request/caller.ts';
import type { Http2RequestHead } from './fields.ts';

/** The connection that a request came on. */
export interface Http2Connection {
  readonly socket: Socket;
  /** Bytes of a body have arrived. */
  received(bytes: number): void;
}

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
  readonly #stream: ServerHttp2Stream;
  readonly #connection: Http2Connection;
  #reading = false;

  constructor(stream: ServerHttp2Stream, head: Http2RequestHead, connection: Http2Connection) {
    super({ highWaterMark: 64 * 1024 });
    this.method = head.method;
    this.url = head.url;
    this.fields = head.fields;
    this.framing = head.framing;
    this.socket = connection.socket;
    this.#connection = connection;
    this.#stream = stream;
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
    // Bytes that still arrive are dropped.
    this.#stream.removeAllListeners('data').resume();
    callback(error);
  }
}
