import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { Overhead } from './overhead.ts';
import type { Http2Response } from './response.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_CANCEL } = constants;

export interface SessionLimits {
  /** For a connection without a request. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may take nothing of a response that is sent to it. */
  readonly stalledTimeoutMs: number;
  readonly maxResetsPerMinute: number;
}

interface WatchedStream {
  readonly response: Http2Response;
  pendingBytes: number;
  stalledSinceMs: number | undefined;
}

const MINUTE_MS = 60_000;
/** How long a caller has to close a connection that was given up in order. */
const CLOSE_MS = 1_000;
/** How long one that broke a bound has to read the GOAWAY that tells it so. */
const GOODBYE_MS = 50;

/** One connection of HTTP/2 with what bounds it: its streams, its idle time, its resets, its overhead. */
export class WatchedSession {
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #limits: SessionLimits;
  readonly #streams = new Map<ServerHttp2Stream, WatchedStream>();
  readonly #overhead: Overhead;
  #idleSinceMs: number | undefined;
  #closingSinceMs: number | undefined = undefined;
  #sentAway: { readonly error: Error; readonly atMs: number } | undefined = undefined;
  #resets = 0;
  #resetsSinceMs: number;

  constructor(
    session: ServerHttp2Session,
    socket: TLSSocket,
    limits: SessionLimits,
    nowMs: number,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#limits = limits;
    this.#overhead = new Overhead(nowMs);
    this.#idleSinceMs = nowMs;
    this.#resetsSinceMs = nowMs;
  }

  get socket(): TLSSocket {
    return this.#socket;
  }

  /** Whether its caller broke a bound: nothing more that comes on it is a request. */
  get isSentAway(): boolean {
    return this.#sentAway !== undefined;
  }

  /** Bytes of a request, of its head or its body, have arrived. */
  received(bytes: number): void {
    this.#overhead.useful(bytes);
  }

  opened(stream: ServerHttp2Stream, response: Http2Response): void {
    this.#idleSinceMs = undefined;
    this.#streams.set(stream, { response, pendingBytes: 0, stalledSinceMs: undefined });
  }

  /**
   * A stream is over. One that ended before its response did counts as reset, whoever reset it: a caller
   * makes the other side reset streams as well (CVE-2023-44487, CVE-2025-8671). One too many ends the
   * connection.
   */
  ended(stream: ServerHttp2Stream, nowMs: number): void {
    const { response } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#idleSinceMs = nowMs;
    if (response === undefined || response.writableFinished || response.aborted) return;
    this.#countReset(nowMs);
  }

  /** A stream that was refused before it came to a request. */
  refused(nowMs: number): void {
    this.#countReset(nowMs);
  }

  #countReset(nowMs: number): void {
    if (nowMs - this.#resetsSinceMs >= MINUTE_MS) {
      this.#resetsSinceMs = nowMs;
      this.#resets = 0;
    }
    this.#resets += 1;
    if (this.#resets > this.#limits.maxResetsPerMinute) {
      this.#sendAway(new TooManyResetsError(), nowMs);
    }
  }

  /**
   * Says GOAWAY and gives the caller a moment to read it: a connection that is ended at once drops what
   * waits behind a write, and the kernel drops what was sent where more arrives. After the GOAWAY nghttp2
   * ignores new streams.
   */
  #sendAway(error: Error, nowMs: number): void {
    if (this.#sentAway !== undefined || this.#session.destroyed) return;
    this.#sentAway = { error, atMs: nowMs };
    this.#session.goaway(NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Ends what is overdue. Gives true where the connection was given up for being idle. */
  look(nowMs: number): boolean {
    // Unlike one that is sent away for its resets, a flood gets no moment more to go on in.
    if (!this.#session.destroyed && this.#overhead.isFlood(this.#socket, nowMs)) {
      this.#session.destroy(new FloodError(), NGHTTP2_ENHANCE_YOUR_CALM);
      return false;
    }
    if (this.#sentAway !== undefined) {
      const { error, atMs } = this.#sentAway;
      if (nowMs - atMs >= GOODBYE_MS) this.#session.destroy(error, NGHTTP2_ENHANCE_YOUR_CALM);
      return false;
    }
    for (const [stream, watched] of this.#streams) this.#lookAt(stream, watched, nowMs);
    if (this.#closingSinceMs !== undefined) {
      if (nowMs - this.#closingSinceMs >= CLOSE_MS && this.#streams.size === 0) {
        this.#socket.destroy();
      }
      return false;
    }
    if (nowMs - (this.#idleSinceMs ?? nowMs) < this.#limits.keepAliveTimeoutMs) return false;
    this.close(nowMs);
    return true;
  }

  #lookAt(stream: ServerHttp2Stream, watched: WatchedStream, nowMs: number): void {
    const { writableLength } = stream;
    const stalled = writableLength > 0 && writableLength === watched.pendingBytes;
    watched.pendingBytes = writableLength;
    watched.stalledSinceMs = stalled ? (watched.stalledSinceMs ?? nowMs) : undefined;
    if (nowMs - (watched.stalledSinceMs ?? nowMs) >= this.#limits.stalledTimeoutMs) {
      stream.close(NGHTTP2_CANCEL);
    }
  }

  /**
   * Takes no more streams, and closes when the last one is over. The GOAWAY names the last stream that was
   * taken, so a caller knows of those after it that nothing came of them (RFC 9113 section 6.8).
   */
  close(nowMs: number): void {
    this.#closingSinceMs ??= nowMs;
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  cut(): void {
    this.#socket.destroy();
  }
}

/** More streams of a connection were reset than are allowed. */
class TooManyResetsError extends Error {
  override readonly name = 'TooManyResetsError';
  readonly code = 'HTTP2_RESETS';
}

/** A caller sent more that is no part of a request than is allowed. */
class FloodError extends Error {
  override readonly name = 'FloodError';
  readonly code = 'HTTP2_FLOOD';
}
