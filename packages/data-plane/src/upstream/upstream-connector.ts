import { isIP, type LookupFunction } from 'node:net';
import {
  Http1ClientConnection,
  type Http1ConnectionOwner,
} from '@gateway/http/http1/client/connection';
import {
  connect,
  type ConnectedSocket,
  type ConnectFailure,
} from '@gateway/http/http1/client/connect';
import type { Clock } from '@gateway/shared/clock';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';
import { secureContextOf } from './secure-context.ts';

export interface ConnectorOptions {
  readonly clock: Clock;
  readonly lookup: LookupFunction;
  readonly connectTimeoutMs: number;
  /**
   * How long a connection to a name is used, ms; undefined: without a limit. With no limit a busy connection would
   * outlive the addresses that the name had when it was opened.
   */
  readonly maxAgeMs?: number | undefined;
  /** undefined: the roots of this process, the name of the host, no client certificate. */
  readonly tls?: UpstreamTls | undefined;
}

/** Receives the connection, or why there is none. */
export type Opened = (
  ...result: [Http1ClientConnection, undefined] | [undefined, ConnectFailure]
) => void;

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

  /** Opens a connection, with TLS if the URL of the upstream says so. Calls `opened` once. */
  open(owner: Http1ConnectionOwner, opened: Opened): void {
    const { clock, lookup, connectTimeoutMs, tls } = this.#options;
    // Events of the socket call these, and nobody else would take their exceptions.
    const fail = (failure: ConnectFailure) => {
      try {
        opened(undefined, failure);
      } catch (error) {
        owner.internalError(error);
      }
    };
    const failUnexpectedly = (error: unknown) => {
      owner.internalError(error);
      fail(INTERNAL);
    };
    const connected = (read: ConnectedSocket) => {
      let connection: Http1ClientConnection;
      try {
        connection = new Http1ClientConnection(read, owner);
        connection.retiresAtMs = clock.monotonicMs() + this.#nextAgeMs();
      } catch (error) {
        read.socket.destroy();
        failUnexpectedly(error);
        return;
      }
      try {
        opened(connection, undefined);
      } catch (error) {
        connection.guard.fail(error);
      }
    };
    try {
      const options = {
        origin: this.#origin,
        timeoutMs: connectTimeoutMs,
        lookup,
        clock,
        serverName: tls?.serverName,
        secureContext: tls === undefined ? undefined : secureContextOf(tls),
      };
      connect(options, (read, failure) => {
        if (read === undefined) fail(failure);
        else connected(read);
      });
    } catch (error) {
      failUnexpectedly(error);
    }
  }

  #nextAgeMs(): number {
    this.#opened += 1;
    return this.#maxAgeMs * (1 - (RETIREMENT_SPREAD * (this.#opened % RETIREMENTS)) / RETIREMENTS);
  }
}
