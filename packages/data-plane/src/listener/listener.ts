import { createServer, type Socket } from 'node:net';
import { pause, type Clock } from '@gateway/shared/clock';
import { listen } from '@gateway/shared/net/listen';
import { stopListening } from '@gateway/shared/net/stop-listening';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import type { ServerExchange } from '@gateway/http/exchange';
import {
  limitConnections,
  type ConnectionLimits,
  type LimitedConnections,
} from '../limits/connection-limits.ts';
import {
  ConnectionOutcomes,
  type ConnectionCounts,
  type ConnectionOutcome,
} from './connection-outcomes.ts';
import { ConnectionSweep, type SweepLimits } from './connection-sweep.ts';
import { ConnectionGuard, type ReportInternalError } from '@gateway/http/connection-guard';
import { createHttp1Server, type Http1Server } from '@gateway/http/http1/server/server';
import { createHttp2Server, type Http2Limits, type Http2Server } from '../http2/server.ts';
import type { InFlight } from '../request/in-flight.ts';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RefusalReason } from '@gateway/http/http1/server/options';
import type { RefusalWriter } from './refusal.ts';
import { serveTls } from './serve-tls.ts';

/** What the server of the data plane needs. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** Gives the server its connections; without it the server listens on the port. */
  readonly connections: ConnectionSource | undefined;
  readonly onExchange: (exchange: ServerExchange) => void;
  readonly refusal: RefusalWriter;
  /** Counts malformed requests by reason. */
  readonly refused: (reason: RefusalReason) => void;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: ServerLimits;
  /** If set, the port serves TLS and HTTP/2. */
  readonly certificate: ServedCertificate | undefined;
  /** Counts connections that were cut because their callers did not stop sending what nothing reads. */
  readonly cut: () => void;
  /** Counts connections that the gateway ended, by reason. */
  readonly connectionEnded: (reason: string) => void;
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: ReportInternalError;
  /** Counts every connection, and what becomes of it. */
  readonly connectionCounts: ConnectionCounts;
}

/**
 * Connections that another process has accepted. Passes each to `serve`, until the returned function is called.
 */
export type ConnectionSource = (serve: (socket: Socket) => void) => () => void;

export interface ServerLimits extends SweepLimits, ConnectionLimits, Http2Limits {
  readonly maxHeaderBytes: number;
  /** How long a closing connection is still read. */
  readonly lingerTimeoutMs: number;
}

/** The server of the data plane, listening. */
export interface DataPlaneServer {
  readonly port: number;
  /** The number of open connections. */
  openConnections(): number;
  /**
   * Serves the connections that the kernel has accepted and no later ones, waits up to `timeoutMs` for requests in flight
   * and for callers that are still sending a refused body, then closes the rest. Idle
   * connections stay open for `graceMs`. A request on one of them is still answered, with
   * `Connection: close`, so that no caller loses a request that it has already sent.
   */
  drain(graceMs: number, timeoutMs: number): Promise<void>;
}

/** How long requests may take to finish after their connection was closed. */
const END_MS = 1_000;

/** Starts the HTTP server of the data plane. */
export async function startServer(options: ServerOptions): Promise<DataPlaneServer> {
  const { certificate, clock, limits, onExchange } = options;
  const sweep = new ConnectionSweep(clock, limits);
  const http1 = createHttp1Server({
    clock,
    onExchange,
    internalError: options.internalError,
    refusal: options.refusal,
    refused: options.refused,
    maxHeaderBytes: limits.maxHeaderBytes,
    lingerTimeoutMs: limits.lingerTimeoutMs,
    cut: options.cut,
    // Up to twice the limit, a request is parsed, so that it is refused with a record.
    maxHeaderLines: limits.maxHeaderLines * 2,
  });
  const outcomes = new ConnectionOutcomes(options.connectionCounts);
  /** An event of a server calls this, and nobody else would take its exceptions. */
  const guarded =
    <S extends Socket>(
      serve: (socket: S, outcome: ConnectionOutcome, guard: ConnectionGuard) => void,
    ) =>
    (socket: S) => {
      const outcome = outcomes.of(socket);
      const guard = new ConnectionGuard(socket, (error, request) => {
        outcome.ended('internal_error');
        options.internalError(error, request);
      });
      guard.run(() => {
        serve(socket, outcome, guard);
      });
    };
  const serveHttp1 = guarded((socket, outcome) => {
    const connection = http1.accept(socket);
    outcome.progress = connection;
    connection.guard.run(() => {
      outcome.watch(connection.socket);
      sweep.add(connection, () => {
        outcome.ended('timed_out');
      });
    });
  });
  const http2 =
    certificate &&
    createHttp2Server({
      onExchange,
      clock,
      limits,
      count: options.connectionEnded,
      refused: options.refused,
      refusal: options.refusal,
    });
  const serve =
    certificate === undefined || http2 === undefined
      ? serveHttp1
      : serveTls({
          certificate,
          http1: serveHttp1,
          handshakeTimeoutMs: limits.headersTimeoutMs,
          http2: guarded((socket, outcome, guard) => {
            outcome.watch(socket);
            http2.accept(socket, guard, outcome);
          }),
          failed: (socket, error) => {
            outcomes.of(socket).handshakeFailed(error);
          },
        });
  const serveGuarded = guarded(serve);
  const connections = limitConnections(
    limits,
    (reason) => {
      outcomes.refused(reason);
    },
    (socket) => {
      outcomes.accepted(socket);
      serveGuarded(socket);
    },
  );

  const { port, stopAccepting } = await startAccepting(connections, options);
  return {
    port,
    openConnections: connections.open,
    drain: (graceMs, timeoutMs) =>
      drain({ stopAccepting, http1, http2, outcomes }, options, { graceMs, timeoutMs }),
  };
}

interface Accepting {
  readonly port: number;
  /** Stops new connections; those that are open stay. Resolves once those that the kernel has accepted are open. */
  readonly stopAccepting: () => Promise<void> | void;
}

async function startAccepting(
  { accept }: LimitedConnections,
  { host, port, connections, log, connectionCounts: { notAccepted } }: ServerOptions,
): Promise<Accepting> {
  if (connections === undefined) {
    const server = createServer({ noDelay: true }, accept);
    const portVariable = 'GATEWAY_PORT';
    const listening = await listen(server, { host, port, portVariable, log, notAccepted });
    return { port: listening, stopAccepting: () => stopListening(server) };
  }
  const stopAccepting = connections((socket) => {
    socket.setNoDelay(true);
    accept(socket);
  });
  return { port, stopAccepting };
}

interface Servers {
  readonly stopAccepting: () => Promise<void> | void;
  readonly http1: Http1Server;
  readonly http2: Http2Server | undefined;
  readonly outcomes: ConnectionOutcomes;
}

async function drain(
  { stopAccepting, http1, http2, outcomes }: Servers,
  options: ServerOptions,
  times: { readonly graceMs: number; readonly timeoutMs: number },
): Promise<void> {
  const { clock, inFlight } = options;
  const { graceMs, timeoutMs } = times;
  const startedMs = clock.monotonicMs();
  // Connections stay open: the next request may already be on its way.
  await stopAccepting();
  await pause(clock, Math.min(graceMs, timeoutMs));
  outcomes.isDraining = true;
  http2?.close();
  const leftMs = Math.max(0, timeoutMs - (clock.monotonicMs() - startedMs));
  const timeout = new AbortController();
  // A caller that is still sending a refused body could not read its response after a reset.
  const closed = inFlight.idle().then(() => http1.close());
  await Promise.race([closed, pause(clock, leftMs, timeout.signal)]);
  timeout.abort();
  http1.destroy();
  http2?.destroy();
  // Requests that were ended by this still get their records.
  const ended = new AbortController();
  await Promise.race([inFlight.idle(), pause(clock, END_MS, ended.signal)]);
  ended.abort();
}
