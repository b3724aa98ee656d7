import type {
  Http1ClientConnection,
  Http1ConnectionOwner,
} from '@gateway/http/http1/client/connection';
import type { FieldBlocks } from '@gateway/http/message/repeated-fields';
import { connectError } from './connect-error.ts';
import { IdleConnections } from './idle-connections.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { AttemptErrorName } from './attempt-end.ts';
import { UpstreamConnector, type ConnectorOptions } from './upstream-connector.ts';

/** An attempt that a pool gives a connection to. */
export interface PooledAttempt {
  /** Whether it still needs a response. */
  readonly wanted: boolean;
  /**
   * It waits for a connection.
   *
   * @param forOthers whether it waits until others need theirs no more, because there may be no further one
   */
  waits(forOthers: boolean): void;
  /** Sends the request on this connection. Returns false if it must not be sent any more. */
  start(connection: Http1ClientConnection): boolean;
  /** No connection could be opened; nothing was sent. */
  refused(name: AttemptErrorName): void;
}

export interface PoolOptions extends ConnectorOptions {
  /** Shared by all pools. */
  readonly blocks?: FieldBlocks | undefined;
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: (error: unknown) => void;
  /** Called when the pool has no connection left and opens none. */
  readonly emptied: () => void;
}

/**
 * The connections to one upstream, at most `maxConnections`. Attempts without a connection wait in order of arrival, at
 * most `maxPending`; further ones are refused at once.
 */
export class ConnectionPool implements Http1ConnectionOwner {
  readonly host: string;
  readonly blocks: FieldBlocks | undefined;
  /** May change while the pool is in use. */
  limits: PoolLimits;
  readonly #connector: UpstreamConnector;
  readonly #options: PoolOptions;
  readonly #connections = new Set<Http1ClientConnection>();
  readonly #idle: IdleConnections;
  /** In order of arrival. In a set, whose tables are replaced often, ended attempts would stay in memory (ADR 0050). */
  readonly #waiting: PooledAttempt[] = [];
  #connecting = 0;
  #serving = false;
  #closed = false;

  constructor(origin: string, limits: PoolLimits, options: PoolOptions) {
    this.limits = limits;
    this.#connector = new UpstreamConnector(origin, options);
    this.host = this.#connector.host;
    this.blocks = options.blocks;
    this.#options = options;
    this.#idle = new IdleConnections(options.clock);
  }

  /** The number of connections that are open or being opened. */
  get size(): number {
    return this.#connections.size + this.#connecting;
  }

  /** Whether no further attempt may wait. Those for which there is or will be a connection do not count as waiting. */
  get isFull(): boolean {
    const { maxConnections, maxPending } = this.limits;
    if (this.size < maxConnections) return false;
    return this.#unserved >= maxPending;
  }

  /** The number of waiting attempts for which there is no connection, also none that is being opened. */
  get #unserved(): number {
    return this.#waiting.length - this.#connecting - this.#idle.count;
  }

  /** Starts the attempt on a connection, or queues it until there is one. */
  dispatch(attempt: PooledAttempt): void {
    // Attempts that are waiting already come first.
    const connection = this.#waiting.length === 0 ? this.#idle.take() : undefined;
    if (connection !== undefined) this.#start(attempt, connection);
    else if (this.isFull) attempt.refused('max_pending');
    else {
      this.#waiting.push(attempt);
      this.#openForWaiting();
      attempt.waits(this.#unserved > 0);
      this.#serveWaiting();
    }
  }

  /**
   * Opens a connection for this attempt only. It does not count towards `maxConnections`, because an upgraded
   * connection stays open for as long as its caller wants.
   */
  dispatchAlone(attempt: PooledAttempt): void {
    const owner: Http1ConnectionOwner = {
      host: this.host,
      freed: (connection) => connection.destroy(),
      closed: () => undefined,
      internalError: this.#options.internalError,
    };
    attempt.waits(false);
    this.#connector.open(owner, (connection, failure) => {
      if (connection === undefined) attempt.refused(connectError(failure));
      else if (attempt.wanted) this.#start(attempt, connection, owner);
      else connection.destroy();
    });
  }

  /** Removes an attempt that has ended without a connection, so that the pool does not keep its body in memory. */
  withdraw(attempt: PooledAttempt): void {
    const index = this.#waiting.indexOf(attempt);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Closes the idle connections now, and each busy one when its attempt has ended. */
  retire(): void {
    this.#closed = true;
    this.#idle.destroy();
  }

  /** Closes every connection now. */
  destroy(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
  }

  /**
   * Takes a connection back. It is used in the next turn of the event loop at the earliest; a callback is set for it only
   * if an attempt waits.
   */
  freed(connection: Http1ClientConnection): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#closed || nowMs >= connection.retiresAtMs) {
      connection.destroy();
      return;
    }
    this.#idle.add(connection, nowMs);
    this.#serveWaiting();
  }

  internalError(error: unknown): void {
    this.#options.internalError(error);
  }

  closed(connection: Http1ClientConnection): void {
    this.#connections.delete(connection);
    this.#idle.remove(connection);
    this.#openForWaiting();
    if (this.size === 0) this.#options.emptied();
  }

  /** Gives connections that became idle in an earlier turn of the event loop to waiting attempts, until none waits. */
  #serveWaiting(): void {
    if (this.#serving || this.#waiting.length === 0 || this.#idle.count === 0) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      while (this.#waiting.length > 0) {
        // This callback runs in the turn in which it was set, and again in the next one.
        const connection = this.#idle.take();
        if (connection === undefined) {
          this.#openForWaiting();
          this.#serveWaiting();
          return;
        }
        const attempt = this.#waiting.shift();
        if (attempt !== undefined) this.#start(attempt, connection);
      }
    });
  }

  /** An exception ends the connection and the attempt; what called this gives the others their connections. */
  #start(
    attempt: PooledAttempt,
    connection: Http1ClientConnection,
    owner: Http1ConnectionOwner = this,
  ): void {
    try {
      if (!attempt.start(connection)) owner.freed(connection);
    } catch (error) {
      connection.guard.fail(error);
      connection.guard.run(() => {
        attempt.refused('internal_error');
      });
    }
  }

  #open(): void {
    this.#connecting += 1;
    this.#connector.open(this, (connection, failure) => {
      this.#connecting -= 1;
      if (connection === undefined) {
        // Each failure to connect fails the attempt that has waited longest.
        const failed = this.#waiting.shift();
        this.#openForWaiting();
        if (this.size === 0) this.#options.emptied();
        failed?.refused(connectError(failure));
        return;
      }
      this.#connections.add(connection);
      const attempt = this.#waiting.shift();
      if (attempt === undefined) this.freed(connection);
      else this.#start(attempt, connection);
    });
  }

  /**
   * Opens connections for the waiting attempts. One that became idle in this turn of the event loop serves an attempt
   * in the next one: opening another would cost more than that wait, and each connection that is not in use costs the
   * others their place in the caches of the CPU.
   */
  #openForWaiting(): void {
    let wanted = this.#unserved;
    for (; wanted > 0 && this.size < this.limits.maxConnections; wanted -= 1) this.#open();
  }
}
