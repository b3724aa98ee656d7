import {
  createServer,
  constants,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '@gateway/shared/clock';
import type { CallerRequest, CallerResponse } from '../request/caller.ts';
import { requestHead } from './fields.ts';
import { Http2Request } from './request.ts';
import { Http2Response } from './response.ts';
import { WatchedSession, type SessionLimits } from './watched-session.ts';

export interface Http2Limits extends SessionLimits {
  /** Of one connection at a time. */
  readonly maxConcurrentStreams: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
}

export interface Http2Options {
  readonly onRequest: (request: CallerRequest, response: CallerResponse) => void;
  /** Counts connections that were ended for what their callers did, by reason. */
  readonly count: (reason: string) => void;
  readonly clock: Clock;
  readonly limits: Http2Limits;
}

/** The HTTP/2 side of the port; connections are handed to it once TLS has chosen it. */
export interface Http2Server {
  accept(socket: TLSSocket): void;
  /** Takes no more streams; connections close when their last one is over. */
  close(): void;
  /** Cuts every connection. */
  cut(): void;
}

/** How often a connection is looked at within the shortest of its times. */
const LOOKS = 4;
/** And at the latest: a flood is as long as it is not seen. */
const MAX_LOOK_MS = 200;
/** For a line of HTTP/1.1: cookies may come each in a field of its own (RFC 9113 section 8.2.3). */
const FIELDS_FOR_LINE = 2;
/** Frames that break the protocol, and streams past the bound of them, that end a connection. */
const MAX_INVALID_FRAMES = 100;
const MAX_REJECTED_STREAMS = 100;
/** What a connection may make the process hold, in MB. */
const MAX_SESSION_MB = 10;

/**
 * Serves HTTP/2 (RFC 9113) through the same handlers as HTTP/1.1. Extended CONNECT (RFC 8441) is not
 * offered, and nothing is pushed. node:http2 holds back callers that read no answers to their pings
 * and settings, floods of CONTINUATION frames, and malformed streams; the rest is bounded here.
 */
export function createHttp2Server(options: Http2Options): Http2Server {
  const { clock, limits, count } = options;
  const sessions = new Map<ServerHttp2Session, WatchedSession>();
  const shortestMs = Math.min(limits.keepAliveTimeoutMs, limits.stalledTimeoutMs);
  const everyMs = Math.min(Math.ceil(shortestMs / LOOKS), MAX_LOOK_MS);
  let accepting: TLSSocket | undefined;
  let timer: Timer | undefined;

  const server = createServer({
    settings: {
      maxConcurrentStreams: limits.maxConcurrentStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
    maxHeaderListPairs: limits.maxHeaderLines * FIELDS_FOR_LINE,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
    maxSessionMemory: MAX_SESSION_MB,
    // An upstream may repeat a field that should stand alone; it goes on as it came, as with HTTP/1.1.
    strictSingleValueFields: false,
  });

  function look(): void {
    const nowMs = clock.monotonicMs();
    for (const session of sessions.values()) if (session.look(nowMs)) count('HTTP2_IDLE');
    timer = sessions.size > 0 ? clock.setTimer(everyMs, look) : undefined;
  }

  server.on('session', (session) => {
    const socket = accepting;
    if (socket === undefined) throw new Error('a session came without its connection');
    sessions.set(session, new WatchedSession(session, socket, limits, clock.monotonicMs()));
    timer ??= clock.setTimer(everyMs, look);
    socket.once('close', () => {
      sessions.delete(session);
      if (sessions.size > 0) return;
      timer?.cancel();
      timer = undefined;
    });
  });
  server.on('sessionError', (error: NodeJS.ErrnoException) => {
    count(error.code ?? 'HTTP2_ERROR');
  });
  server.on(
    'stream',
    (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, fields?: string[]) => {
      const { session } = stream;
      const watched =
        session === undefined ? undefined : sessions.get(session as ServerHttp2Session);
      // What breaks a stream shows in its end.
      stream.on('error', () => undefined);
      if (watched?.isSentAway === true) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      const head = requestHead(fields ?? [], stream.endAfterHeaders, limits.maxHeaderBytes);
      if (watched === undefined || typeof head === 'number') {
        stream.close(typeof head === 'number' ? head : constants.NGHTTP2_REFUSED_STREAM);
        watched?.refused(clock.monotonicMs());
        return;
      }
      const response = new Http2Response(stream, head.method === 'HEAD');
      watched.received(head.bytes);
      watched.opened(stream, response);
      stream.once('close', () => watched.ended(stream, clock.monotonicMs()));
      options.onRequest(new Http2Request(stream, head, watched), response);
    },
  );

  return {
    accept(socket) {
      accepting = socket;
      server.emit('connection', socket);
      accepting = undefined;
    },
    close() {
      const nowMs = clock.monotonicMs();
      for (const session of sessions.values()) session.close(nowMs);
    },
    cut() {
      for (const session of sessions.values()) session.cut();
    },
  };
}
