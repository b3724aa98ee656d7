import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ConnectionGuard, EndReason } from '@gateway/http1/connection-guard';
import type { HeaderFields } from '@gateway/http1/fields/header-fields';
import { toStayValid } from '@gateway/http1/message/read-buffer';
import type { CallerResponse } from '../request/caller.ts';
import { responseFields } from './fields.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;

const BODILESS = new Set([204, 205, 304]);

/** The response to an HTTP/2 request. */
export class Http2Response implements CallerResponse {
  headersSent = false;
  /** Whether the gateway aborted the stream. */
  aborted = false;
  readonly #stream: ServerHttp2Stream;
  readonly #isHead: boolean;
  readonly #guard: ConnectionGuard;
  #bodiless = false;
  #endReason: EndReason | undefined = undefined;

  constructor(stream: ServerHttp2Stream, isHead: boolean, guard: ConnectionGuard) {
    this.#stream = stream;
    this.#isHead = isHead;
    this.#guard = guard;
    stream.once('finish', () => stopUpload(stream, guard));
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  get endReason(): EndReason | undefined {
    return this.#endReason ?? this.#guard.endReason;
  }

  /**
   * Whether the response was sent completely. node:http2 destroys a stream before it has finished if the request was read
   * to its end; such a stream is closed without an error.
   */
  get writableFinished(): boolean {
    const stream = this.#stream;
    if (stream.aborted) return false;
    const isSent = stream.closed && stream.writableEnded && stream.rstCode === NGHTTP2_NO_ERROR;
    return stream.writableFinished || isSent;
  }

  writeContinue(): void {
    if (!this.destroyed) this.#stream.additionalHeaders({ ':status': 100 });
  }

  writeHead(status: number, text: string | HeaderFields, fields?: HeaderFields): void {
    if (this.destroyed) return;
    this.#bodiless = this.#isHead || BODILESS.has(status);
    const all = responseFields(status, typeof text === 'string' ? (fields ?? []) : text);
    this.#stream.respond(all as unknown as string[], { endStream: this.#bodiless });
    this.headersSent = true;
  }

  /** Nothing to do, because `writeHead` has sent the head. */
  flushHeaders(): void {
    return undefined;
  }

  /** The stream sends later, when the next read may have overwritten a buffer. */
  write(chunk: Buffer | string, encoding: 'latin1'): boolean {
    if (!this.#isOpen()) return true;
    return this.#stream.write(toStayValid(chunk), encoding);
  }

  end(chunk?: Buffer | string, encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (!this.#isOpen()) return;
    if (chunk === undefined) this.#stream.end();
    else this.#stream.end(toStayValid(chunk), encoding);
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    this.#stream.once(event, listener);
    return this;
  }

  on(event: 'error', listener: (error: Error) => void): this {
    this.#stream.on(event, listener);
    return this;
  }

  /** Resets the stream, so that the response is not complete (RFC 9113 section 8.1). */
  destroy(reason?: EndReason): void {
    if (this.destroyed) return;
    this.aborted = true;
    this.#endReason = reason;
    // `destroy` resets with INTERNAL_ERROR; `close` would first send the end of the body.
    this.#stream.destroy(new AbortedError());
  }

  /** Resets the stream, whose caller reads nothing of the response. */
  cancelStalled(): void {
    if (this.destroyed) return;
    this.#endReason = 'timed_out';
    this.#stream.close(NGHTTP2_CANCEL);
  }

  #isOpen(): boolean {
    return !this.#bodiless && !this.destroyed;
  }
}

/** The response could not be sent completely. */
class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** Asks the caller after the response to stop sending its body, with a reset without error (RFC 9113 section 8.1). */
function stopUpload(stream: ServerHttp2Stream, guard: ConnectionGuard): void {
  if (stream.endAfterHeaders || stream.aborted) return;
  stream.resume();
  setImmediate(() => {
    guard.run(() => {
      if (!stream.readableEnded && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
    });
  });
}
