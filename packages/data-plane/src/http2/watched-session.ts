import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type {
  ConnectionProgress,
  ConnectionStage,
} from '@gateway/http/http1/server/connection-progress';
import type { Http2EndReason } from './end-reasons.ts';
import { Overhead } from './overhead.ts';
import type { Http2Connection, Http2Exchange } from './exchange.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM } = constants;

/** The limits of one connection. */
export interface SessionLimits {
  /** How long a connection without a request stays open. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may read nothing of a response. */
  readonly stalledTimeoutMs: number;
  readonly maxResetsPerMinute: number;
}

/** Why a connection is rejected. */
export interface RejectionError extends Error {
  /** The reason that is counted. */
  readonly code: Http2EndReason;
  /** The code of GOAWAY. */
  readonly http2Code: number;
}

interface WatchedStream {
  readonly exchange: Http2Exchange;
  pendingBytes: number;
  stalledSinceMs: number | undefined;
}

const MINUTE_MS = 60_000;
/** How long a caller has to close a connection after GOAWAY. */
const CLOSE_MS = 1_000;
/** How long a caller that exceeded a limit has to read the GOAWAY frame. */
const REJECTION_MS = 50;

/** An HTTP/2 connection, with the limits of its idle time, stalled responses, resets and overhead. */
export class WatchedSession implements ConnectionProgress, Http2Connection {
  readonly isSecure = true;
  /** For what handles its requests. */
  readonly guard: ConnectionGuard;
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #limits: SessionLimits;
  readonly #streams = new Map<ServerHttp2Stream, WatchedStream>();
  readonly #overhead: Overhead;
  #idleSinceMs: number | undefined;
  #closingSinceMs: number | undefined = undefined;
  #destroyedSinceMs: number | undefined = undefined;
  #rejected: { readonly error: RejectionError; readonly atMs: number } | undefined = undefined;
  /** The newest stream with a request, and codes for streams that are not reported yet. */
  #lastStream = 0;
  readonly #resetsAhead = new Map<number, number>();
  #resets = 0;
  #resetsSinceMs: number;
  /** Whether a stream that has ended had a response. */
  #hasAnswered = false;

  constructor(
    session: ServerHttp2Session,
    socket: TLSSocket,
    limits: SessionLimits,
    guard: ConnectionGuard,
    nowMs: number,
  ) {
    this.#session = session;
    this.guard = guard;
    this.#socket = socket;
    this.#limits = limits;
    this.#overhead = new Overhead(nowMs);
    this.#idleSinceMs = nowMs;
    this.#resetsSinceMs = nowMs;
  }

  /** The connection. */
  get socket(): TLSSocket {
    return this.#socket;
  }

  get address(): string {
    return this.#socket.remoteAddress ?? '';
  }

  /** The preface, settings and an incomplete head do not count as a request. */
  get stage(): ConnectionStage {
    return this.#lastStream > 0 || this.#resets > 0 ? 'request' : 'accepted';
  }

  get isAnswered(): boolean {
    if (this.#hasAnswered) return true;
    return [...this.#streams.values()].some(({ exchange }) => exchange.hasResponded);
  }

  /** Whether its caller has exceeded a limit. No more requests are accepted. */
  get isRejected(): boolean {
    return this.#rejected !== undefined;
  }

  /** Bytes of the head or the body of a request have arrived. */
  received(bytes: number): void {
    this.#overhead.useful(bytes);
  }

  /** A stream with a request has started. */
  opened(stream: ServerHttp2Stream, exchange: Http2Exchange): void {
    this.#idleSinceMs = undefined;
    this.#streams.set(stream, { exchange, pendingBytes: 0, stalledSinceMs: undefined });
    this.#lastStream = stream.id ?? this.#lastStream;
    if (this.#resetsAhead.size > 0) this.#resetOpened(stream);
  }

  #resetOpened(stream: ServerHttp2Stream): void {
    for (const [id, code] of this.#resetsAhead) {
      if (id > this.#lastStream) continue;
      this.#resetsAhead.delete(id);
      if (id === stream.id) stream.close(code);
    }
  }

  /** Resets a stream. If node:http2 has not reported it yet, it is reset when that happens. */
  reset(id: number, code: number): void {
    if (id > this.#lastStream) this.#resetsAhead.set(id, code);
    for (const stream of this.#streams.keys()) if (stream.id === id) stream.close(code);
  }

  /**
   * A stream has ended. If it ended before its response it counts as reset, by either side, because a caller can also make
   * the gateway reset streams (CVE-2023-44487, CVE-2025-8671). Too many resets end the connection.
   */
  ended(stream: ServerHttp2Stream, nowMs: number): void {
    const { exchange } = this.#streams.get(stream) ?? {};
    this.#streams.delete(stream);
    this.#hasAnswered ||= exchange?.hasResponded === true;
    if (this.#streams.size === 0) this.#idleSinceMs = nowMs;
    if (exchange === undefined || exchange.isSent || exchange.isAborted) return;
    this.#countReset(nowMs);
  }

  /** A stream was refused before there was a request. */
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
      this.reject(new TooManyResetsError(), nowMs);
    }
  }

  /**
   * Sends GOAWAY and leaves the caller time to read it. If the connection were closed at once, pending writes would be
   * lost, and the kernel would drop sent bytes if more arrive. nghttp2 ignores new streams after GOAWAY.
   */
  reject(error: RejectionError, nowMs: number): void {
    if (this.#rejected !== undefined || this.#session.destroyed) return;
    this.#rejected = { error, atMs: nowMs };
    this.#session.goaway(error.http2Code);
  }

  /** Enforces the limits. Returns the reason if the connection ends because of its caller. */
  check(nowMs: number): Http2EndReason | undefined {
    if (this.#session.destroyed) {
      // Its last bytes may still be sent, unless the caller does not read them.
      this.#destroyedSinceMs ??= nowMs;
      if (nowMs - this.#destroyedSinceMs >= CLOSE_MS) this.#socket.destroy();
      return undefined;
    }
    // A flood is ended at once, unlike too many resets.
    if (this.#overhead.isFlood(this.#socket, nowMs)) return this.#destroy(new FloodError());
    if (this.#rejected !== undefined) {
      const { error, atMs } = this.#rejected;
      return nowMs - atMs >= REJECTION_MS ? this.#destroy(error) : undefined;
    }
    for (const [stream, watched] of this.#streams) this.#checkStream(stream, watched, nowMs);
    if (this.#closingSinceMs !== undefined) {
      if (nowMs - this.#closingSinceMs >= CLOSE_MS && this.#streams.size === 0) {
        this.#socket.destroy();
      }
      return undefined;
    }
    if (nowMs - (this.#idleSinceMs ?? nowMs) < this.#limits.keepAliveTimeoutMs) return undefined;
    this.close(nowMs);
    return 'HTTP2_IDLE';
  }

  #destroy(error: RejectionError): Http2EndReason {
    this.#session.destroy(error, error.http2Code);
    return error.code;
  }

  #checkStream(stream: ServerHttp2Stream, watched: WatchedStream, nowMs: number): void {
    const { writableLength } = stream;
    const stalled = writableLength > 0 && writableLength === watched.pendingBytes;
    watched.pendingBytes = writableLength;
    watched.stalledSinceMs = stalled ? (watched.stalledSinceMs ?? nowMs) : undefined;
    if (nowMs - (watched.stalledSinceMs ?? nowMs) >= this.#limits.stalledTimeoutMs) {
      watched.exchange.cancelStalled();
    }
  }

  /**
   * Accepts no more streams, and closes when the last one has ended. GOAWAY contains the last accepted stream, so the
   * caller knows that later ones were not processed (RFC 9113 section 6.8).
   */
  close(nowMs: number): void {
    this.#closingSinceMs ??= nowMs;
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  /** Closes the connection now, because the server stops. */
  destroy(): void {
    this.guard.end('drained');
  }
}

/** Too many streams of a connection were reset. */
class TooManyResetsError extends Error {
  override readonly name = 'TooManyResetsError';
  readonly code = 'HTTP2_RESETS';
  readonly http2Code = NGHTTP2_ENHANCE_YOUR_CALM;
}

/** A caller sent too many bytes that are not part of a request. */
class FloodError extends Error {
  override readonly name = 'FloodError';
  readonly code = 'HTTP2_FLOOD';
  readonly http2Code = NGHTTP2_ENHANCE_YOUR_CALM;
}
