import { isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Clock } from '@gateway/shared/clock';
import { bareHost } from '@gateway/shared/net/upstream-addresses';
import type { AttemptError } from './port.ts';
import { secureContextOf } from './secure-context.ts';
import type { UpstreamTls } from '../routing-table/compile-tls.ts';
import { connect, type ConnectFailure } from '@gateway/http1/client/connect';
import { ADDRESS_REFUSED } from './names/guarded-lookup.ts';
import {
  ClientConnection,
  type ConnectionOwner,
  type ExchangeEvents,
} from '@gateway/http1/client/connection';

const { nodeTiming } = performance;

/** Which turn of the event loop this is: a number that libuv counts up before each poll. */
function currentTurn(): number {
  return nodeTiming.uvMetricsInfo.loopCount;
}

/** An exchange on its way to a connection. */
export interface PooledExchange extends ExchangeEvents {
  /** Whether it is still wanted; one that is not is passed over. */
  readonly wanted: boolean;
  /** The request is about to be written to this connection. */
  started(connection: ClientConnection): void;
  /** No connection could be had, so nothing was sent. */
  refused(name: AttemptError['name']): void;
}

export interface PoolOptions {
  readonly clock: Clock;
  readonly lookup: LookupFunction;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  /**
   * How long a connection to a name is used, ms: a busy one would else outlive the addresses that the name
   * had when it was opened. undefined: for ever.
   */
  readonly maxAgeMs?: number | undefined;
  /** undefined: the roots of this process, the name of the host, no certificate. */
  readonly tls?: UpstreamTls | undefined;
  /** The pool has no connection left and opens none. */
  readonly emptied: () => void;
}

/**
 * How long a connection may rest unused: less than the keep-alive time of common servers (5 s and
 * more), so that a request seldom meets one that is being closed. An upstream's own hint can only
 * shorten it.
 */
const MAX_IDLE_MS = 4_000;
/** Taken off an upstream's hint, for the way there. */
const HINT_MARGIN_MS = 1_000;
const SWEEP_MS = 1_000;
/** Connections that were opened together are retired at so many times, over the last fifth of their age. */
const RETIREMENTS = 16;
const RETIREMENT_SPREAD = 0.2;

/**
 * The connections to one upstream, at most `maxConnections`. The one used last is used first, so that
 * those that are too many fall idle and close. What finds no connection waits in order; how much may
 * wait is bounded by the requests in flight.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly host: string;
  readonly #origin: URL;
  readonly #options: PoolOptions;
  readonly #connections = new Set<ClientConnection>();
  /** The one given back last is the last. */
  readonly #idle: ClientConnection[] = [];
  #waiting: PooledExchange[] = [];
  #connecting = 0;
  #opened = 0;
  readonly #maxAgeMs: number;
  #sweeping = false;
  #serving = false;
  #closed = false;

  constructor(origin: string, options: PoolOptions) {
    this.#origin = new URL(origin);
    this.host = this.#origin.host;
    this.#options = options;
    // What an address in a URL means does not change.
    const named = isIP(bareHost(this.#origin)) === 0;
    this.#maxAgeMs = named ? (options.maxAgeMs ?? Infinity) : Infinity;
  }

  /** Connections that are open or being opened. */
  get size(): number {
    return this.#connections.size + this.#connecting;
  }

  dispatch(exchange: PooledExchange): void {
    // Whoever waits already comes first.
    const connection = this.#waiting.length === 0 ? this.#takeRested() : undefined;
    if (connection !== undefined) start(exchange, connection);
    else {
      this.#waiting.push(exchange);
      if (this.size < this.#options.maxConnections) this.#open();
      this.#serveWaiting();
    }
  }

  /**
   * Opens a connection for this exchange alone. It takes no place in the pool, as an upgraded one stays open for
   * as long as its caller likes.
   */
  dispatchAlone(exchange: PooledExchange): void {
    const owner: ConnectionOwner = {
      host: this.host,
      idle: (connection) => connection.destroy(),
      closed: () => undefined,
    };
    this.#connect(owner, (connection, failure) => {
      if (connection === undefined) exchange.refused(connectError(failure));
      else if (exchange.wanted) start(exchange, connection);
      else connection.destroy();
    });
  }

  /** Cuts the idle connections, and each other one when its exchange is over. */
  retire(): void {
    this.#closed = true;
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Cuts every connection. */
  destroy(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
  }

  /**
   * Takes a connection back. It is not used before the event loop has turned once more, so that bytes
   * that followed the response show up while nobody waits for any. To ask for a call at its end costs more
   * than to count turns, so that is done only where somebody waits.
   */
  idle(connection: ClientConnection): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#closed || nowMs >= connection.retiresAtMs) {
      connection.destroy();
      return;
    }
    connection.idleSinceMs = nowMs;
    connection.idleSinceTurn = currentTurn();
    this.#idle.push(connection);
    this.#serveWaiting();
    this.#sweepLater();
  }

  closed(connection: ClientConnection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#openForWaiting();
    if (this.size === 0) this.#options.emptied();
  }

  /** Once the event loop has turned, gives the idle connections to those that wait for one. */
  #serveWaiting(): void {
    if (this.#serving || this.#waiting.length === 0 || this.#idle.length === 0) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      while (this.#idle.length > 0) {
        const exchange = this.#nextWaiting();
        if (exchange === undefined) return;
        const connection = this.#takeIdle(this.#idle.length - 1);
        if (connection !== undefined) start(exchange, connection);
        else this.#waiting.unshift(exchange);
      }
    });
  }

  /** A connection that was not given back within this turn of the event loop. */
  #takeRested(): ClientConnection | undefined {
    let last = this.#idle.length - 1;
    if (last === -1) return undefined;
    const turn = currentTurn();
    while (last >= 0 && this.#idle[last]?.idleSinceTurn === turn) last -= 1;
    return this.#takeIdle(last);
  }

  /** The idle connection at this place, or the next one before it that can be used. */
  #takeIdle(from: number): ClientConnection | undefined {
    for (let index = from; index >= 0; index -= 1) {
      const one = this.#idle[index];
      if (index === this.#idle.length - 1) this.#idle.pop();
      else this.#idle.splice(index, 1);
      if (one?.usable === true && !this.#isStale(one)) return one;
      one?.destroy();
    }
    return undefined;
  }

  #nextWaiting(): PooledExchange | undefined {
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      if (one.wanted) return one;
    }
    return undefined;
  }

  #open(): void {
    this.#connecting += 1;
    this.#connect(this, (connection, failure) => {
      this.#connecting -= 1;
      if (connection === undefined) {
        // Each failed attempt to connect answers one of those that wait: the first of them has waited
        // for as long as this took.
        this.#nextWaiting()?.refused(connectError(failure));
        this.#openForWaiting();
        if (this.size === 0) this.#options.emptied();
        return;
      }
      connection.retiresAtMs = this.#options.clock.monotonicMs() + this.#nextAgeMs();
      this.#connections.add(connection);
      const exchange = this.#nextWaiting();
      if (exchange === undefined) this.idle(connection);
      else start(exchange, connection);
    });
  }

  #connect(owner: ConnectionOwner, opened: Opened): void {
    const { clock, lookup, connectTimeoutMs, tls } = this.#options;
    let connection: ClientConnection | undefined;
    const options = {
      origin: this.#origin,
      timeoutMs: connectTimeoutMs,
      lookup,
      clock,
      serverName: tls?.serverName,
      secureContext: tls === undefined ? undefined : secureContextOf(tls),
      received: (bytes: Buffer) => connection?.received(bytes),
    };
    connect(options, (socket, failure) => {
      if (socket === undefined) {
        opened(undefined, failure);
        return;
      }
      connection = new ClientConnection(socket, owner);
      opened(connection, undefined);
    });
  }

  #nextAgeMs(): number {
    this.#opened += 1;
    return this.#maxAgeMs * (1 - (RETIREMENT_SPREAD * (this.#opened % RETIREMENTS)) / RETIREMENTS);
  }

  #openForWaiting(): void {
    const wanted = this.#waiting.length - this.#connecting;
    if (wanted > 0 && this.size < this.#options.maxConnections) this.#open();
  }

  #isStale(connection: ClientConnection): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs >= connection.retiresAtMs) return true;
    const hintMs = connection.keepAliveHintMs ?? Infinity;
    const idleMs = nowMs - connection.idleSinceMs;
    return idleMs >= Math.min(MAX_IDLE_MS, Math.max(0, hintMs - HINT_MARGIN_MS));
  }

  #sweepLater(): void {
    if (this.#sweeping || this.#idle.length === 0) return;
    this.#sweeping = true;
    this.#options.clock.setTimer(SWEEP_MS, () => {
      this.#sweeping = false;
      for (const connection of [...this.#idle]) {
        if (this.#isStale(connection)) connection.destroy();
      }
      this.#sweepLater();
    });
  }
}

type Opened = (...result: [ClientConnection, undefined] | [undefined, ConnectFailure]) => void;

function start(exchange: PooledExchange, connection: ClientConnection): void {
  exchange.started(connection);
  connection.carry(exchange);
}

type ConnectError = Extract<
  AttemptError['name'],
  'connect_refused' | 'connect_timeout' | 'connect_failed' | 'tls_failed' | 'address_refused'
>;

const NAMES: Readonly<Record<string, ConnectError>> = {
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  [ADDRESS_REFUSED]: 'address_refused',
};

/** What a failure to connect is called in the record. */
export function connectError(failure: ConnectFailure): ConnectError {
  if (failure.phase === 'tls') return 'tls_failed';
  if (failure.phase === 'timeout') return 'connect_timeout';
  return NAMES[failure.code ?? ''] ?? 'connect_failed';
}
