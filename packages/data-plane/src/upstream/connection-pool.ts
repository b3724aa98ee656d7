import { performance } from 'node:perf_hooks';
import type {
  ClientConnection,
  ClientExchange,
  ConnectionOwner,
} from '@gateway/http1/client/connection';
import { connectError } from './connect-error.ts';
import type { AttemptError } from './port.ts';
import { UpstreamConnector, type ConnectorOptions } from './upstream-connector.ts';

/** An exchange on its way to a connection. */
export interface PooledExchange extends ClientExchange {
  /** Whether it still waits for its response. */
  readonly wanted: boolean;
  /** The request is about to be written to this connection. */
  started(connection: ClientConnection): void;
  /** No connection could be opened, so nothing was sent. */
  refused(name: AttemptError['name']): void;
}

export interface PoolOptions extends ConnectorOptions {
  readonly maxConnections: number;
  /** The pool has no connection left and opens none. */
  readonly emptied: () => void;
}

/**
 * How long a connection may be idle: less than the keep-alive time of common servers (5 s and more), so that a request
 * seldom meets a connection that is being closed. The hint of an upstream can only shorten it.
 */
const MAX_IDLE_MS = 4_000;
/** Subtracted from the hint of an upstream, for the time on the way. */
const HINT_MARGIN_MS = 1_000;
const SWEEP_MS = 1_000;

/**
 * The connections to one upstream, at most `maxConnections`. The one used last is used first, so that surplus ones
 * become idle and close. Exchanges that find no connection wait in order; the requests in flight bound how many wait.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly host: string;
  readonly #connector: UpstreamConnector;
  readonly #options: PoolOptions;
  readonly #connections = new Set<ClientConnection>();
  /** The one that became idle last is the last. */
  readonly #idle: ClientConnection[] = [];
  /** The first to come is the first. A set, because an exchange may leave from anywhere in it. */
  readonly #waiting = new Set<PooledExchange>();
  #connecting = 0;
  #sweeping = false;
  #serving = false;
  #closed = false;

  constructor(origin: string, options: PoolOptions) {
    this.#connector = new UpstreamConnector(origin, options);
    this.host = this.#connector.host;
    this.#options = options;
  }

  /** Connections that are open or being opened. */
  get size(): number {
    return this.#connections.size + this.#connecting;
  }

  dispatch(exchange: PooledExchange): void {
    // Exchanges that wait already come first.
    const connection = this.#waiting.size === 0 ? this.#takeRested() : undefined;
    if (connection !== undefined) start(exchange, connection);
    else {
      this.#waiting.add(exchange);
      if (this.size < this.#options.maxConnections) this.#open();
      this.#serveWaiting();
    }
  }

  /**
   * Opens a connection for this exchange alone. It takes no place in the pool, because an upgraded connection stays
   * open for as long as its caller wants.
   */
  dispatchAlone(exchange: PooledExchange): void {
    const owner: ConnectionOwner = {
      host: this.host,
      idle: (connection) => connection.destroy(),
      closed: () => undefined,
    };
    this.#connector.open(owner, (connection, failure) => {
      if (connection === undefined) exchange.refused(connectError(failure));
      else if (exchange.wanted) start(exchange, connection);
      else connection.destroy();
    });
  }

  /** The exchange is over, so it no longer waits for a connection: the pool keeps neither it nor its body. */
  withdraw(exchange: PooledExchange): void {
    if (this.#waiting.size > 0) this.#waiting.delete(exchange);
  }

  /** Closes the idle connections, and each other one when its exchange is over. */
  retire(): void {
    this.#closed = true;
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Closes every connection. */
  destroy(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
  }

  /**
   * Takes a connection back. It is not used before the next turn of the event loop, so that bytes that follow the
   * response show up while no exchange is on it. A callback at the end of the turn costs more than to count turns, so
   * there is one only if an exchange waits.
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

  /** In the next turn of the event loop, gives the idle connections to exchanges that wait. */
  #serveWaiting(): void {
    if (this.#serving || this.#waiting.size === 0 || this.#idle.length === 0) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      while (this.#waiting.size > 0) {
        const connection = this.#takeIdle(this.#idle.length - 1);
        if (connection === undefined) return;
        const exchange = this.#nextWaiting();
        if (exchange !== undefined) start(exchange, connection);
      }
    });
  }

  /** A connection that did not become idle within this turn of the event loop. */
  #takeRested(): ClientConnection | undefined {
    let last = this.#idle.length - 1;
    if (last === -1) return undefined;
    const turn = currentTurn();
    while (last >= 0 && this.#idle[last]?.idleSinceTurn === turn) last -= 1;
    return this.#takeIdle(last);
  }

  /** The idle connection at this index, or the nearest one before it that can be used. */
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
    const [first] = this.#waiting;
    if (first !== undefined) this.#waiting.delete(first);
    return first;
  }

  #open(): void {
    this.#connecting += 1;
    this.#connector.open(this, (connection, failure) => {
      this.#connecting -= 1;
      if (connection === undefined) {
        // Each failure to connect fails the exchange that waits longest: it has waited for as long as this took.
        this.#nextWaiting()?.refused(connectError(failure));
        this.#openForWaiting();
        if (this.size === 0) this.#options.emptied();
        return;
      }
      this.#connections.add(connection);
      const exchange = this.#nextWaiting();
      if (exchange === undefined) this.idle(connection);
      else start(exchange, connection);
    });
  }

  #openForWaiting(): void {
    const wanted = this.#waiting.size - this.#connecting;
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

function start(exchange: PooledExchange, connection: ClientConnection): void {
  exchange.started(connection);
  connection.carry(exchange);
}

const { nodeTiming } = performance;

/** Which turn of the event loop this is: a number that libuv increments before each poll. */
function currentTurn(): number {
  return nodeTiming.uvMetricsInfo.loopCount;
}
