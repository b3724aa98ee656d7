import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createHttp1Server, type Http1Server } from '@gateway/http/http1/server/server';
import { PriorKnowledge } from '@gateway/http/http2/prior-knowledge';
import type { EndReason } from '@gateway/http/http2/protocol';
import { Http2Server } from '@gateway/http/http2/server';
import { readDirectly } from '@gateway/http/sockets/direct-reads';
import type { ReadSocket } from '@gateway/http/sockets/read-socket';
import { TlsOutcomes, type ConnectionOutcome } from './connection-outcomes.ts';
import { authoritiesOf } from './connection-authorities.ts';
import { ConnectionSweep, idleTimeout } from './connection-sweep.ts';
import type { ServerOptions } from './options.ts';
import { serveTls } from './serve-tls.ts';

/** The engines that serve the connections of the port. */
export interface Engines {
  /** Serves an accepted connection with the engine of its protocol. */
  serve(socket: Socket, outcome: ConnectionOutcome): void;
  readonly http1: Http1Server;
  readonly http2: Http2Server;
  /** Closes each connection of HTTP/2 when it has no stream, and those that have not shown their version. */
  drain(): void;
}

/** Up to this multiple of the allowed lines a request is parsed, so that it is refused with a record. */
const LINES_PER_ALLOWED = 2;
/** Fields that are allowed for each line of HTTP/1.1, because each cookie may have its own field (RFC 9113 section 8.2.3). */
const FIELDS_PER_LINE = 2;
/** A caller that reads less of a response over HTTP/2 while there is more is stalled. */
const MIN_SEND_BYTES_PER_SECOND = 100;
/** RFC 6455 section 4.1. */
const WEB_SOCKET_KEY_BYTES = 16;
/** Ends of HTTP/2 connections that are no error of the caller. */
const TIME_OUTS: ReadonlySet<EndReason> = new Set(['HTTP2_IDLE', 'HTTP2_TIMEOUT']);

type Serve = (read: ReadSocket, outcome: ConnectionOutcome) => void;

/**
 * Creates the engines.
 *
 * @param open the number of open connections
 */
export function createEngines(options: ServerOptions, open: () => number): Engines {
  const { certificate, clock, limits, onExchange, internalError, refused } = options;
  const idleTimeoutMs = idleTimeout(limits, open);
  const sweep = new ConnectionSweep(clock, limits, idleTimeoutMs);
  const { maxHeaderBytes } = limits;
  const { refusal, unhandled } = options;
  const common = { clock, onExchange, internalError, refusal, refused };
  const http1 = createHttp1Server({
    ...common,
    maxHeaderBytes,
    lingerTimeoutMs: limits.lingerTimeoutMs,
    cut: options.cut,
    maxHeaderLines: limits.maxHeaderLines * LINES_PER_ALLOWED,
  });
  const http2 = new Http2Server({
    ...common,
    unhandled,
    maxWindowBytes: limits.maxWindowBytes,
    webSocketKey: () => {
      const key = Buffer.alloc(WEB_SOCKET_KEY_BYTES);
      options.random(key);
      return key.toString('base64');
    },
    limits: {
      maxHeaderBytes,
      maxFields: limits.maxHeaderLines * FIELDS_PER_LINE,
      maxConcurrentStreams: limits.maxConcurrentStreams,
      maxResetsPerMinute: limits.maxResetsPerMinute,
      headTimeoutMs: limits.headersTimeoutMs,
      get keepAliveTimeoutMs() {
        return idleTimeoutMs();
      },
      stalledTimeoutMs: limits.stalledTimeoutMs,
      minSendBytesPerSecond: MIN_SEND_BYTES_PER_SECOND,
    },
  });
  const serveHttp1: Serve = (read, outcome) => {
    const connection = http1.accept(read);
    outcome.progress = connection;
    connection.guard.run(() => {
      sweep.add(connection, () => {
        outcome.ended('timed_out');
      });
    });
  };
  const serveHttp2: Serve = (read, outcome) => {
    outcome.progress = http2.accept(read, (reason) => {
      options.connectionEnded(reason);
      outcome.ended(TIME_OUTS.has(reason) ? 'timed_out' : 'http2_error');
    });
  };
  const priorKnowledge = new PriorKnowledge(clock, limits.headersTimeoutMs);
  const serveEither: Serve = (read, outcome) => {
    priorKnowledge.choose(read, {
      http1: (chosen) => {
        serveHttp1(chosen, outcome);
      },
      http2: (chosen) => {
        serveHttp2(chosen, outcome);
      },
    });
  };
  const drain = () => {
    priorKnowledge.close();
    http2.drain();
  };

  /** An event of a socket calls this, and nobody else would take its exceptions. */
  function guarded(socket: Socket, outcome: ConnectionOutcome, serve: () => void): void {
    try {
      serve();
    } catch (error) {
      outcome.ended('internal_error');
      socket.destroy();
      internalError(error);
    }
  }

  function servedBy(serve: Serve) {
    return (socket: Socket, outcome: ConnectionOutcome) => {
      guarded(socket, outcome, () => {
        outcome.watch(socket);
        serve(readDirectly(socket), outcome);
      });
    };
  }

  if (certificate === undefined) {
    const serve = servedBy(options.servesCleartextHttp2 ? serveEither : serveHttp1);
    return { serve, http1, http2, drain };
  }
  const outcomes = new TlsOutcomes();
  const overHttp1 = servedBy(serveHttp1);
  const overHttp2 = (socket: TLSSocket, outcome: ConnectionOutcome) => {
    guarded(socket, outcome, () => {
      outcome.watch(socket);
      const coversAuthority = authoritiesOf(socket, certificate);
      serveHttp2({ ...readDirectly(socket), coversAuthority }, outcome);
    });
  };
  const serveSecure = serveTls({
    certificate,
    handshakeTimeoutMs: limits.headersTimeoutMs,
    http1: (socket) => {
      overHttp1(socket, outcomes.of(socket));
    },
    http2: (socket) => {
      // HTTP/2 does not allow it (RFC 9113 section 9.2.1).
      socket.disableRenegotiation();
      overHttp2(socket, outcomes.of(socket));
    },
    failed: (socket, error) => {
      outcomes.of(socket).handshakeFailed(error);
    },
  });
  const serve = (socket: Socket, outcome: ConnectionOutcome) => {
    guarded(socket, outcome, () => {
      outcomes.add(socket, outcome);
      serveSecure(socket);
    });
  };
  return { serve, http1, http2, drain };
}
