import {
  createServer,
  constants,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { ConnectionProgress } from '@gateway/http/http1/server/connection-progress';
import type { Refusal, RefusalReason } from '@gateway/http/http1/server/options';
import type { Clock, Timer } from '@gateway/shared/clock';
import type { ServerExchange } from '@gateway/http/exchange';
import { continueAfterStreamErrors } from './continue-after-stream-errors.ts';
import type { Http2EndReason } from './end-reasons.ts';
import { Http2Exchange } from './exchange.ts';
import { requestHead } from './fields.ts';
import { InspectedConnection } from './inspection/inspected-connection.ts';
import { WatchedSession, type SessionLimits } from './watched-session.ts';

export interface Http2Limits extends SessionLimits {
  /** The number of simultaneous streams of one connection. */
  readonly maxConcurrentStreams: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
}

export interface Http2Options {
  readonly onExchange: (exchange: ServerExchange) => void;
  /** Counts connections that were closed because of their callers, by reason. */
  readonly count: (reason: string) => void;
  /** Called for every request that is refused before there is a handler for it. */
  readonly refused: (reason: RefusalReason) => void;
  /** Returns the response to a caller at this address. */
  readonly refusal: (reason: RefusalReason, address: string) => Refusal;
  readonly clock: Clock;
  readonly limits: Http2Limits;
}

/** What is noted of a connection, so that it is counted if it ends without a response. */
export interface Http2Outcome {
  progress: ConnectionProgress | undefined;
  /** Called when the gateway ends the connection because of its caller. */
  ended(cause: 'timed_out' | 'http2_error'): void;
}

/** The HTTP/2 server of the port. It gets the connections that negotiated HTTP/2. */
export interface Http2Server {
  /** Serves a connection. */
  accept(socket: TLSSocket, guard: ConnectionGuard, outcome: Http2Outcome): void;
  /** Accepts no more streams. Connections close when their last stream has ended. */
  close(): void;
  /** Closes every connection now, because the server stops. */
  destroy(): void;
}

/** How often a connection is checked within the shortest of its timeouts. */
const CHECKS = 4;
/** The longest time between two checks, so that a flood is detected soon. */
const MAX_CHECK_INTERVAL_MS = 200;
/** Fields that are allowed for each line of HTTP/1.1, because each cookie may have its own field (RFC 9113 section 8.2.3). */
const FIELDS_PER_LINE = 2;
/** Invalid frames, and streams above the limit, after which a connection is closed. */
const MAX_INVALID_FRAMES = 100;
const MAX_REJECTED_STREAMS = 100;
/**
 * How much is read of the fields of a request, as a multiple of what is allowed. Above it the stream is reset, or the
 * connection ends if the field block itself is larger.
 */
const READ_PER_ALLOWED = 4;
/** The memory of a connection, MB. */
const MAX_SESSION_MB = 10;

/**
 * Creates the HTTP/2 server (RFC 9113), which uses the same handlers as HTTP/1.1. Extended CONNECT (RFC 8441) and server
 * push are not supported. node:http2 limits unread answers to pings and settings, CONTINUATION frames and malformed
 * streams; all other limits are enforced here.
 */
export function createHttp2Server(options: Http2Options): Http2Server {
  const { clock, limits, count } = options;
  const maxFields = limits.maxHeaderLines * FIELDS_PER_LINE;
  const sessions = new Map<ServerHttp2Session, WatchedSession>();
  const outcomes = new WeakMap<ServerHttp2Session, Http2Outcome>();
  const shortestMs = Math.min(limits.keepAliveTimeoutMs, limits.stalledTimeoutMs);
  const intervalMs = Math.min(Math.ceil(shortestMs / CHECKS), MAX_CHECK_INTERVAL_MS);
  let accepting:
    | {
        readonly connection: InspectedConnection<TLSSocket>;
        readonly guard: ConnectionGuard;
        readonly outcome: Http2Outcome;
      }
    | undefined;
  let timer: Timer | undefined;

  const server = createServer({
    settings: {
      maxConcurrentStreams: limits.maxConcurrentStreams,
      // Fields above the limit are read, so that they are refused with a response.
      maxHeaderListSize: limits.maxHeaderBytes * READ_PER_ALLOWED,
    },
    maxHeaderListPairs: maxFields * READ_PER_ALLOWED,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
    maxSessionMemory: MAX_SESSION_MB,
    // An upstream may repeat a field that should occur once; it is passed on unchanged, as with HTTP/1.1.
    strictSingleValueFields: false,
  });

  function check(): void {
    for (const [session, watched] of sessions) {
      watched.guard.run(() => {
        const reason = watched.check(clock.monotonicMs());
        if (reason === undefined) return;
        count(reason);
        if (reason === 'HTTP2_IDLE') outcomes.get(session)?.ended('timed_out');
      });
    }
    timer = sessions.size > 0 ? clock.setTimer(intervalMs, check) : undefined;
  }

  server.on('session', (session) => {
    if (accepting === undefined) throw new Error('a session has no connection');
    const { connection, guard, outcome } = accepting;
    const { socket } = connection;
    const watched = new WatchedSession(session, socket, limits, guard, clock.monotonicMs());
    connection.onInvalid = (error) => {
      watched.reject(error, clock.monotonicMs());
    };
    connection.onReset = (stream, code) => {
      watched.reset(stream, code);
    };
    noteErrors(session, outcome);
    continueAfterStreamErrors(session, connection);
    guard.events(session);
    sessions.set(session, watched);
    outcomes.set(session, outcome);
    outcome.progress = watched;
    timer ??= clock.setTimer(intervalMs, check);
    // Not the event of the server: a stream that was reset by then no longer has its session.
    session.on('stream', (stream, _headers, _flags, fields) => {
      openStream(watched, stream, fields);
    });
    socket.once('close', () => {
      sessions.delete(session);
      if (sessions.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
  });
  server.on('sessionError', (error: NodeJS.ErrnoException) => {
    // What the checks ended has been counted.
    if (!('http2Code' in error)) count(error.code ?? ('HTTP2_ERROR' satisfies Http2EndReason));
  });

  function openStream(watched: WatchedSession, stream: ServerHttp2Stream, fields: string[]): void {
    watched.guard.events(stream);
    // The error of a stream is handled when it closes.
    stream.on('error', () => undefined);
    if (watched.isRejected) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    // Its caller has reset it in the same read, or its connection is closed. Nobody waits for its response.
    if (stream.destroyed || stream.closed) {
      watched.refused(clock.monotonicMs());
      return;
    }
    const head = requestHead(fields, stream.endAfterHeaders, {
      maxHeaderBytes: limits.maxHeaderBytes,
      maxFields,
    });
    if (typeof head === 'number') {
      stream.close(head);
      watched.refused(clock.monotonicMs());
      return;
    }
    const exchange = new Http2Exchange(stream, head, watched);
    watched.received(head.bytes);
    watched.opened(stream, exchange);
    stream.once('close', () => watched.ended(stream, clock.monotonicMs()));
    // The gateway has reset it, for a frame after its head.
    if (exchange.isClosed) return;
    if (head.refusal === undefined) options.onExchange(exchange);
    else refuse(exchange, head.refusal);
  }

  function refuse(exchange: Http2Exchange, reason: RefusalReason): void {
    options.refused(reason);
    const { status, fields, body } = options.refusal(reason, exchange.connection.address);
    exchange.respond(status, '', fields, false);
    exchange.send(body, true);
  }

  return {
    accept(socket, guard, outcome) {
      // As node:http2 does for a TLS connection that it reads itself.
      socket.disableRenegotiation();
      const maxBlockBytes = limits.maxHeaderBytes * READ_PER_ALLOWED;
      const connection = new InspectedConnection(socket, maxBlockBytes, guard);
      accepting = { connection, guard, outcome };
      guard.run(() => server.emit('connection', connection));
      accepting = undefined;
    },
    close() {
      for (const session of sessions.values()) {
        session.guard.run(() => {
          session.close(clock.monotonicMs());
        });
      }
    },
    destroy() {
      for (const session of sessions.values()) session.destroy();
    },
  };
}

/** Notes the error that ends a session now, because node:http2 reports it after the connection has closed. */
function noteErrors(session: ServerHttp2Session, outcome: Http2Outcome): void {
  const destroy = session.destroy.bind(session);
  session.destroy = (error?: Error, code?: number) => {
    if (error instanceof Error) outcome.ended('http2_error');
    destroy(error, code);
  };
}
