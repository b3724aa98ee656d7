import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  NO_HANDLER,
  type CallerConnection,
  type End,
  type ServerExchange,
} from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { toStayValid } from '@gateway/http/message/read-buffer';
import type { RequestHead } from '@gateway/http/message/request-head';
import { WaitingBody } from '@gateway/http/http1/server/waiting-body';
import { responseFields } from './fields.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

const BODILESS = new Set([204, 205, 304]);

/** The connection that a request came on. */
export interface Http2Connection extends CallerConnection {
  /** Bytes of a body have arrived. */
  received(bytes: number): void;
}

/**
 * An HTTP/2 request and its response. Its body ends only if the caller ended it: a stream that is reset, also with
 * NO_ERROR, fails the body, so that a part of it is never sent on as the whole.
 */
export class Http2Exchange implements ServerExchange {
  readonly head: RequestHead;
  readonly body: WaitingBody;
  readonly connection: CallerConnection;
  handler = NO_HANDLER;
  hasResponded = false;
  /** Whether `abort` was called. */
  isAborted = false;
  readonly #stream: ServerHttp2Stream;
  #bodiless = false;
  #isBlocked = false;
  #abortedBy: Exclude<End, 'complete'> | undefined = undefined;
  #error: Error | undefined = undefined;

  constructor(stream: ServerHttp2Stream, head: RequestHead, connection: Http2Connection) {
    const { guard } = connection;
    this.head = head;
    this.connection = connection;
    this.#stream = stream;
    this.body = new WaitingBody({
      gate: {
        hold: (_reason, hold) => void (hold ? stream.pause() : stream.resume()),
        // The window of the stream bounds how much arrives.
        dropped: () => undefined,
      },
      guard,
    });
    if (head.framing.kind === 'none') this.body.received('', true);
    else this.#read(connection);
    stream.on('error', (error: Error) => (this.#error = error));
    stream.once('close', () => {
      this.body.fail('peer_left');
    });
    stream.once('close', () => {
      const end = this.isSent ? 'complete' : (guard.endReason ?? this.#abortedBy ?? 'peer_left');
      this.handler.closed(end, this.#error);
    });
    stream.once('finish', () => {
      this.#stopUpload();
    });
  }

  #read(connection: Http2Connection): void {
    const stream = this.#stream;
    stream.on('data', (chunk: Buffer) => {
      connection.received(chunk.length);
      this.body.received(chunk, false);
    });
    stream.once('end', () => {
      if (!stream.aborted) this.body.received('', true);
    });
  }

  get isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /**
   * Whether the response was sent completely. node:http2 destroys a stream before it has finished if the request was read
   * to its end; such a stream is closed without an error.
   */
  get isSent(): boolean {
    const stream = this.#stream;
    if (stream.aborted) return false;
    const isSent = stream.closed && stream.writableEnded && stream.rstCode === NGHTTP2_NO_ERROR;
    return stream.writableFinished || isSent;
  }

  sendContinue(): void {
    if (!this.isClosed) this.#stream.additionalHeaders({ ':status': 100 });
  }

  respond(status: number, _text: string, fields: HeaderFields, last: boolean): void {
    if (this.isClosed) return;
    this.#bodiless = last || this.head.method === 'HEAD' || BODILESS.has(status);
    const all = responseFields(status, fields) as unknown as string[];
    this.#stream.respond(all, { endStream: this.#bodiless });
    this.hasResponded = true;
  }

  /** Nothing to do, because `respond` has sent the head. */
  flush(): void {
    return undefined;
  }

  /** The stream sends later, when the next read may have overwritten a buffer. */
  send(bytes: BodyBytes, last: boolean): boolean {
    if (this.#bodiless || this.isClosed) return true;
    const stream = this.#stream;
    if (last) {
      if (bytes.length === 0) stream.end();
      else stream.end(toStayValid(bytes), 'latin1');
      return true;
    }
    if (stream.write(toStayValid(bytes), 'latin1')) return true;
    if (!this.#isBlocked) {
      this.#isBlocked = true;
      stream.once('drain', () => {
        this.#isBlocked = false;
        this.handler.writable();
      });
    }
    return false;
  }

  /** Resets the stream, so that the response is not complete (RFC 9113 section 8.1). */
  abort(end: Exclude<End, 'complete'>): void {
    if (this.isClosed) return;
    this.isAborted = true;
    this.#abortedBy = end;
    // `destroy` resets with INTERNAL_ERROR; `close` would first send the end of the body.
    this.#stream.destroy(new AbortedError());
  }

  /** Resets the stream, whose caller reads nothing of the response. */
  cancelStalled(): void {
    if (this.isClosed) return;
    this.#abortedBy = 'timed_out';
    this.#stream.close(NGHTTP2_CANCEL);
  }

  /** Asks the caller after the response to stop sending its body, with a reset without error (RFC 9113 section 8.1). */
  #stopUpload(): void {
    const stream = this.#stream;
    if (stream.endAfterHeaders || stream.aborted) return;
    this.body.discard();
    setImmediate(() => {
      this.connection.guard.run(() => {
        if (!stream.readableEnded && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
      });
    });
  }
}

/** The response could not be sent completely. */
class AbortedError extends Error {
  override readonly name = 'AbortedError';
}
