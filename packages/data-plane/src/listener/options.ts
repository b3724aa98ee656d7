import type { Socket } from 'node:net';
import type { ReportInternalError } from '@gateway/http/connection-guard';
import type { ServerExchange } from '@gateway/http/exchange';
import type { RefusalReason } from '@gateway/http/http1/server/options';
import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ServedCertificate } from '@gateway/shared/tls/served-certificate';
import type { ConnectionLimits } from '../limits/connection-limits.ts';
import type { InFlight } from '../request/in-flight.ts';
import type { ConnectionCounts } from './connection-outcomes.ts';
import type { SweepLimits } from './connection-sweep.ts';
import type { RefusalWriter } from './refusal.ts';

/** What the server of the data plane needs. */
export interface ServerOptions extends RefusalWriter {
  readonly host: string;
  readonly port: number;
  /** Gives the server its connections; without it the server listens on the port. */
  readonly connections: ConnectionSource | undefined;
  /** Handles each request. */
  readonly onExchange: (exchange: ServerExchange) => void;
  readonly random: RandomSource;
  /** Counts malformed requests by reason. */
  readonly refused: (reason: RefusalReason) => void;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: ServerLimits;
  /** If set, the port serves TLS and HTTP/2. */
  readonly certificate: ServedCertificate | undefined;
  /** Whether a port without TLS also serves HTTP/2, to clients that know this (RFC 9113 section 3.3). */
  readonly servesCleartextHttp2: boolean;
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
 * Connections that another process has accepted. Passes each to `serve`, until the returned function is called
 * and has ended.
 */
export type ConnectionSource = (serve: (socket: Socket) => void) => () => Promise<void> | void;

export interface ServerLimits extends SweepLimits, ConnectionLimits {
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
  /** The number of simultaneous streams of one HTTP/2 connection. */
  readonly maxConcurrentStreams: number;
  /** Streams of one HTTP/2 connection that may be reset in a minute, by either side. */
  readonly maxResetsPerMinute: number;
  /** How much larger than at their start the receive windows of all HTTP/2 connections may be together. */
  readonly maxWindowBytes: number;
  /** How long a closing connection is still read. */
  readonly lingerTimeoutMs: number;
}
