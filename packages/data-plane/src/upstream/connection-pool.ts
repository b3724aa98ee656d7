import { performance } from 'node:perf_hooks';
import type {
  ClientConnection,
  ClientExchange,
  ConnectionOwner,
} from '@gateway/http1/client/connection';
import { connectError } from './connect-error.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { AttemptError } from './upstream-client.ts';
import { UpstreamConnector, type ConnectorOptions } from './upstream-connector.ts';

/** An exchange that a pool gives a connection to. */
export interface PooledExchange extends ClientExchange {
  /** Whether it still needs a response. */
  readonly wanted: boolean;
  /** The request is about to be written to this connection. Returns false if it must not be sent any more. */
  started(connection: ClientConnection): boolean;
  /** No connection could be opened; nothing was sent. */
  refused(name: AttemptError['name']): void;
}

export interface PoolOptions extends ConnectorOptions {
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: (error: unknown) => void;
  /** Called when the pool has no connection left and opens none. */
  readonly emptied: () => void;
}

/**
 * How long a connection may be idle. It is less than the keep-alive timeout of common servers (5 s and more), so that a
 * request is seldom sent on a connection that the server is closing. A `Keep-Alive` hint of an upstream can only
 * shorten it.
 */
const MAX_IDLE_MS = 4_000;
/** Subtracted from the hint of an upstream for the network delay. */
const HINT_MARGIN_MS = 1_000;
const SWEEP_MS = 1_000;

/**
 * The connections to one upstream, at most `maxConnections`. The most recently used one is used first, so that surplus
 * connections stay idle and are closed. Exchanges without a connection wait in order of arrival, at most `maxPending`;
 * further ones are refused at once.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly host: string;
  /** May change while the pool is in use. */
  limits: PoolLimits;
  readonly #connector: UpstreamConnector;
  readonly #options: PoolOptions;
  readonly #connections = new Set<ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle: ClientConnection[] = [];
  /** In order of arrival. In a set, whose tables are replaced often, ended exchanges would stay in memory (ADR 0050). */
  readonly #waiting: PooledExchange[] = [];
  #connecting = 0;
  #sweeping = false;
  #serving = false;
  #closed = false;

  constructor(origin: string, limits: PoolLimits, options: PoolOptions) {
    this.limits = limits;
    this.#connector = new UpstreamConnector(origin, options);
    this.host = this.#connector.host;
    this.#options = options;
  }

  /** The number of connections that are open or being opened. */
  get size(): number {
    return this.#connections.size + this.#connecting;
  }

  /** Whether no further exchange may wait. Those for which there is or will be a connection do not count as waiting. */
  get isFull(): boolean {
    const { maxConnections, maxPending } = this.limits;
    if (this.size < maxConnections) return false;
    return this.#waiting.length - this.#connecting - this.#idle.length >= maxPending;
  }

  /** Starts the exchange on a connection, or queues it until there is one. */
  dispatch(exchange: PooledExchange): void {
    // Exchanges that are waiting already come first.
    const connection = this.#waiting.length === 0 ? this.#takeFromEarlierTurn() : undefined;
    if (connection !== undefined) this.#start(exchange, connection);
    else if (this.isFull) exchange.refused('max_pending');
    else {
      this.#waiting.push(exchange);
      this.#openForWaiting();
      this.#serveWaiting();
    }
  }

  /**
   * Opens a connection for this exchange only. It does not count towards `maxConnections`, because an upgraded
   * connection stays open for as long as its caller wants.
   */
  dispatchAlone(exchange: PooledExchange): void {
    const owner: ConnectionOwner = {
      host: this.host,
      idle: (connection) => connection.destroy(),
      closed: () => undefined,
      internalError: this.#options.internalError,
    };
    this.#connector.open(owner, (connection, failure) => {
      if (connection === undefined) exchange.refused(connectError(failure));
      else if (exchange.wanted) this.#start(exchange, connection, owner);
      else connection.destroy();
    });
  }

  /** Removes an exchange that has ended without a connection, so that the pool does not keep its body in memory. */
  withdraw(exchange: PooledExchange): void {
    const index = this.#waiting.indexOf(exchange);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Closes the idle connections now, and each busy one when its exchange has ended. */
  retire(): void {
    this.#closed = true;
    for (const connection of [...this.#idle]) connection.destroy();
  }

  /** Closes every connection now. */
  destroy(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
  }

  /**
   * Takes a connection back. It is not used before the next turn of the event loop, so that unexpected bytes after the
   * response are noticed while no exchange uses it. Comparing the number of the turn costs less than a callback at its
   * end, so a callback is used only if an exchange waits.
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

  internalError(error: unknown): void {
    this.#options.internalError(error);
  }

  closed(connection: ClientConnection): void {
    this.#connections.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#openForWaiting();
    if (this.size === 0) this.#options.emptied();
  }

  /** Gives connections that became idle in an earlier turn of the event loop to waiting exchanges, until none waits. */
  #serveWaiting(): void {
    if (this.#serving || this.#waiting.length === 0 || this.#idle.length === 0) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      while (this.#waiting.length > 0) {
        // This callback runs in the turn in which it was set, and again in the next one.
        const connection = this.#takeFromEarlierTurn();
        if (connection === undefined) {
          this.#openForWaiting();
          this.#serveWaiting();
          return;
        }
        const exchange = this.#waiting.shift();
        if (exchange !== undefined) this.#start(exchange, connection);
      }
    });
  }

  /** Takes an idle connection, but not one that became idle in this turn of the event loop. */
  #takeFromEarlierTurn(): ClientConnection | undefined {
    let last = this.#idle.length - 1;
    if (last === -1) return undefined;
    const turn = currentTurn();
    while (last >= 0 && this.#idle[last]?.idleSinceTurn === turn) last -= 1;
    return this.#takeIdle(last);
  }

  /** Takes the idle connection at this index, or the nearest one before it that can be used. */
  #takeIdle(from: number): ClientConnection | undefined {
    for (let index = from; index >= 0; index -= 1) {
      const one = this.#idle[index];
      if (index === this.#idle.length - 1) this.#idle.pop();
      else this.#idle.splice(index, 1);
      if (one !== undefined && this.#isKept(one)) return one;
    }
    return undefined;
  }

  /** An exception ends the connection and the exchange; what called this gives the others their connections. */
  #start(
    exchange: PooledExchange,
    connection: ClientConnection,
    owner: ConnectionOwner = this,
  ): void {
    try {
      if (exchange.started(connection)) connection.carry(exchange);
      else owner.idle(connection);
    } catch (error) {
      connection.guard.fail(error);
      connection.guard.run(() => {
        exchange.refused('reset');
      });
    }
  }

  #open(): void {
    this.#connecting += 1;
    this.#connector.open(this, (connection, failure) => {
      this.#connecting -= 1;
      if (connection === undefined) {
        // Each failure to connect fails the exchange that has waited longest.
        const failed = this.#waiting.shift();
        this.#openForWaiting();
        if (this.size === 0) this.#options.emptied();
        failed?.refused(connectError(failure));
        return;
      }
      this.#connections.add(connection);
      const exchange = this.#waiting.shift();
      if (exchange === undefined) this.idle(connection);
      else this.#start(exchange, connection);
    });
  }

  /**
   * Opens connections for the waiting exchanges. One that became idle in this turn of the event loop serves an exchange
   * in the next one: opening another would cost more than that wait, and each connection that is not in use costs the
   * others their place in the caches of the CPU.
   */
  #openForWaiting(): void {
    let wanted = this.#waiting.length - this.#connecting - this.#idle.length;
    for (; wanted > 0 && this.size < this.limits.maxConnections; wanted -= 1) this.#open();
  }

  /** Whether an idle connection can still be used. Otherwise it is closed. */
  #isKept(connection: ClientConnection): boolean {
    try {
      if (connection.usable && !this.#isStale(connection)) return true;
      connection.destroy();
    } catch (error) {
      connection.guard.fail(error);
    }
    return false;
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
      for (const connection of [...this.#idle]) this.#isKept(connection);
      this.#sweepLater();
    });
  }
}

const { nodeTiming } = performance;

/** The number of the current turn of the event loop; libuv increments it before each poll. */
function currentTurn(): number {
  return nodeTiming.uvMetricsInfo.loopCount;
}
