import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { SharedClientConnection, SharedConnectionOwner } from '@gateway/http/exchange';
import { isIP, type LookupFunction } from 'node:net';
import {
  Http1ClientConnection,
  type Http1ConnectionOwner,
} from '@gateway/http/http1/client/connection';
import {
  connect,
  type ConnectedSocket,
  type ConnectFailure,
  type ProtocolChoice,
} from '@gateway/http/sockets/connect';
import type { Clock } from '@gateway/shared/clock';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';
import { secureContextOf } from './secure-context.ts';

export interface ConnectorOptions {
  readonly clock: Clock;
  readonly http2: Http2Engine;
  /** The connections that are open, by protocol; given, it follows them. */
  readonly open?: OpenConnections | undefined;
  /** undefined: HTTP/1.1. */
  readonly protocol?: Exclude<ProtocolChoice, 'http1'> | undefined;
  readonly lookup: LookupFunction;
  readonly connectTimeoutMs: number;
  /**
   * How long a connection to a name is used, ms; undefined: without a limit. With no limit a busy connection would
   * outlive the addresses that the name had when it was opened.
   */
  readonly maxAgeMs?: number | undefined;
  /** undefined: the roots of this process, the name of the host, no client certificate. */
  readonly tls?: UpstreamTls | undefined;
  /** Called with each connection that was opened, or with why it was not. It does not throw. */
  readonly observe?: ObserveConnection | undefined;
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: (error: unknown) => void;
}

export type ObserveConnection = Parameters<typeof connect>[1];

/** How many connections are open, by protocol. */
export type OpenConnections = Record<ConnectedSocket['protocol'], number>;

/** Speaks HTTP/2 on open connections. */
export interface Http2Engine {
  open(connected: ConnectedSocket, owner: SharedConnectionOwner): SharedClientConnection;
}

/** What holds a connection, and receives it, or why there is none. One of the functions is called, once. */
export interface Opening {
  readonly http1: Http1ConnectionOwner;
  /** undefined: only HTTP/1.1 is asked for. */
  readonly http2: SharedConnectionOwner | undefined;
  openedHttp1(connection: Http1ClientConnection): void;
  /** @param retiresAtMs no exchange starts on it after this time; ms, monotonic */
  openedHttp2(connection: SharedClientConnection, retiresAtMs: number): void;
  failed(failure: ConnectFailure): void;
}

/** A connection that is open, and what gives it to the one that asked for it. */
interface Begun {
  readonly guard: ConnectionGuard;
  readonly begin: () => void;
}

const INTERNAL: ConnectFailure = { phase: 'internal' };
/** Connections that were opened together retire at this many different times, over the last fifth of their age. */
const RETIREMENTS = 16;
const RETIREMENT_SPREAD = 0.2;

/** Opens connections to one upstream and decides when each of them retires. */
export class UpstreamConnector {
  readonly host: string;
  readonly #origin: URL;
  readonly #options: ConnectorOptions;
  readonly #maxAgeMs: number;
  #opened = 0;

  constructor(origin: string, options: ConnectorOptions) {
    this.#origin = new URL(origin);
    this.host = this.#origin.host;
    this.#options = options;
    // An IP address in a URL always means the same host; the addresses of a name change.
    const named = isIP(bareHost(this.#origin)) === 0;
    this.#maxAgeMs = named ? (options.maxAgeMs ?? Infinity) : Infinity;
  }

  /**
   * Opens a connection, with TLS if the URL of the upstream says so.
   *
   * @param protocol undefined: HTTP/1.1
   */
  open(opening: Opening, protocol: ConnectorOptions['protocol']): void {
    const { clock, lookup, connectTimeoutMs, tls } = this.#options;
    const { internalError, observe } = this.#options;
    // Events of the socket call these, and nobody else would take their exceptions.
    const fail = (failure: ConnectFailure) => {
      try {
        opening.failed(failure);
      } catch (error) {
        internalError(error);
      }
    };
    const failUnexpectedly = (error: unknown) => {
      internalError(error);
      fail(INTERNAL);
    };
    const connected = (read: ConnectedSocket) => {
      this.#count(read);
      let begin: () => void;
      let guard: ConnectionGuard;
      try {
        ({ begin, guard } = this.#begun(read, opening));
      } catch (error) {
        read.socket.destroy();
        failUnexpectedly(error);
        return;
      }
      guard.run(begin);
    };
    try {
      const options = {
        origin: this.#origin,
        timeoutMs: connectTimeoutMs,
        lookup,
        clock,
        serverName: tls?.serverName,
        secureContext: tls === undefined ? undefined : secureContextOf(tls),
        protocol,
      };
      connect(options, (...result) => {
        observe?.(...result);
        const [read, failure] = result;
        if (read === undefined) fail(failure);
        else connected(read);
      });
    } catch (error) {
      failUnexpectedly(error);
    }
  }

  /** The connection on this socket: its guard, and what gives it to the one that asked for it. */
  #begun(read: ConnectedSocket, opening: Opening): Begun {
    const retiresAtMs = this.#options.clock.monotonicMs() + this.#nextAgeMs();
    if (read.protocol === 'http1') {
      const connection = new Http1ClientConnection(read, opening.http1);
      connection.retiresAtMs = retiresAtMs;
      const begin = () => {
        opening.openedHttp1(connection);
      };
      return { guard: connection.guard, begin };
    }
    if (opening.http2 === undefined) throw new Error('HTTP/2 was not asked for');
    const connection = this.#options.http2.open(read, opening.http2);
    const begin = () => {
      opening.openedHttp2(connection, retiresAtMs);
    };
    return { guard: connection.guard, begin };
  }

  #count({ socket, protocol }: ConnectedSocket): void {
    const { open } = this.#options;
    if (open === undefined) return;
    open[protocol] += 1;
    socket.once('close', () => {
      open[protocol] -= 1;
    });
  }

  #nextAgeMs(): number {
    this.#opened += 1;
    return this.#maxAgeMs * (1 - (RETIREMENT_SPREAD * (this.#opened % RETIREMENTS)) / RETIREMENTS);
  }
}
