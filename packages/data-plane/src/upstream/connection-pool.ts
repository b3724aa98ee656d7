import type { ClientConnection, SharedClientConnection } from '@gateway/http/exchange';
import {
  Http1ClientConnection,
  type Http1ConnectionOwner,
} from '@gateway/http/http1/client/connection';
import type { FieldBlocks } from '@gateway/http/message/repeated-fields';
import type { ConnectFailure } from '@gateway/http/sockets/connect';
import { connectError } from './connect-error.ts';
import { IdleConnections } from './idle-connections.ts';
import { openAlone } from './lone-connection.ts';
import type { PoolLimits } from './pool-limits.ts';
import { failStart, type PooledAttempt } from './pooled-attempt.ts';
import { SharedConnections, type SharedConnectionEvents } from './shared-connections.ts';
import { UpstreamConnector, type ConnectorOptions, type Opening } from './upstream-connector.ts';

export interface PoolOptions extends ConnectorOptions {
  /** Shared by all pools. */
  readonly blocks?: FieldBlocks | undefined;
  /** Called when the pool has no connection left and opens none. */
  readonly emptied: () => void;
}

/**
 * The connections to one upstream, at most `maxConnections`. Attempts without a connection wait in order of arrival, at
 * most `maxPending`; further ones are refused at once. A connection of HTTP/1.1 carries one attempt, one of HTTP/2 as many
 * as its server allows, and a further one is opened only if none is free.
 *
 * Connections of HTTP/2 that only end what they carry do not count, up to as many again: while a server restarts, its long
 * responses must not keep others from the new process.
 */
export class ConnectionPool implements Http1ConnectionOwner, Opening, SharedConnectionEvents {
  readonly host: string;
  readonly blocks: FieldBlocks | undefined;
  /** May change while the pool is in use. */
  limits: PoolLimits;
  readonly #connector: UpstreamConnector;
  readonly #options: PoolOptions;
  readonly #connections = new Set<Http1ClientConnection>();
  readonly #idle: IdleConnections;
  /** undefined: every connection is one of HTTP/1.1. */
  readonly #shared: SharedConnections | undefined;
  /** In order of arrival. In a set, whose tables are replaced often, ended attempts would stay in memory (ADR 0050). */
  readonly #waiting: PooledAttempt[] = [];
  #connecting = 0;
  /** Whether the last connection is not shared, so that one that is being opened will carry one attempt. */
  #opensHttp1 = false;
  #serving = false;
  #closed = false;

  constructor(origin: string, limits: PoolLimits, options: PoolOptions) {
    this.limits = limits;
    this.#connector = new UpstreamConnector(origin, options);
    this.host = this.#connector.host;
    this.blocks = options.blocks;
    this.#options = options;
    this.#idle = new IdleConnections(options.clock);
    if (options.protocol === undefined) return;
    this.#shared = new SharedConnections(this.host, options.clock, this);
  }

  get http1(): Http1ConnectionOwner {
    return this;
  }

  get http2(): SharedConnections | undefined {
    return this.#shared;
  }

  /** The number of connections that are open or being opened. */
  get size(): number {
    const own = this.#connections.size + this.#connecting;
    return this.#shared === undefined ? own : own + this.#shared.size + this.#shared.ending;
  }

  /** Whether no further connection may be opened now. */
  get #isAtLimit(): boolean {
    const { maxConnections } = this.limits;
    const ending = this.#shared === undefined ? 0 : Math.min(this.#shared.ending, maxConnections);
    return this.size - ending >= maxConnections;
  }

  /** Otherwise callers that reset many streams, and keep one, would use up the connections of the others. */
  get mayReplace(): boolean {
    return this.#shared !== undefined && this.#shared.ending < this.limits.maxConnections;
  }

  /** Whether no further attempt may wait. Those for which there is or will be a connection do not count as waiting. */
  get isFull(): boolean {
    const { maxPending } = this.limits;
    if (!this.#isAtLimit || this.#waiting.length < maxPending) return false;
    return this.#unserved >= maxPending;
  }

  /** The number of waiting attempts for which there is no connection, also none that is being opened. */
  get #unserved(): number {
    const free = this.#idle.count + (this.#shared === undefined ? 0 : this.#shared.free);
    return this.#waiting.length - this.#connecting * this.#expected - free;
  }

  /** How many attempts a connection that is being opened will carry. */
  get #expected(): number {
    return this.#shared === undefined || this.#opensHttp1 ? 1 : this.#shared.expected;
  }

  #take(): ClientConnection | undefined {
    return this.#idle.take() ?? this.#shared?.take();
  }

  /** Starts the attempt on a connection, or queues it until there is one. */
  dispatch(attempt: PooledAttempt): void {
    if (this.#shared !== undefined && attempt.authenticatesConnection) {
      this.dispatchAlone(attempt, this.#options.protocol);
      return;
    }
    // Attempts that are waiting already come first.
    const connection = this.#waiting.length === 0 ? this.#take() : undefined;
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
   *
   * @param protocol default: HTTP/1.1
   */
  dispatchAlone(attempt: PooledAttempt, protocol?: ConnectorOptions['protocol']): void {
    openAlone(attempt, this.#connector, protocol, this.#options.internalError);
  }

  /** Removes an attempt that has ended without a connection, so that the pool does not keep its body in memory. */
  withdraw(attempt: PooledAttempt): void {
    const index = this.#waiting.indexOf(attempt);
    if (index !== -1) this.#waiting.splice(index, 1);
  }

  /** Closes the idle connections now, and each busy one when its attempts have ended. */
  retire(): void {
    this.#closed = true;
    this.#idle.destroy();
    this.#shared?.retire();
  }

  /** Closes every connection now. */
  destroy(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
    this.#shared?.destroy();
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
    this.lost();
  }

  /** A shared connection takes an exchange again. */
  sharedFreed(): void {
    this.#serveWaiting();
  }

  /** A connection is closed, or takes no further exchange. */
  lost(): void {
    this.#openForWaiting();
    if (this.size === 0) this.#options.emptied();
  }

  /** Gives connections that became free in an earlier turn of the event loop to waiting attempts, until none waits. */
  #serveWaiting(): void {
    if (this.#serving || this.#waiting.length === 0) return;
    if (this.#idle.count === 0 && this.#shared?.isFree !== true) return;
    this.#serving = true;
    setImmediate(() => {
      this.#serving = false;
      this.#startWaiting();
      // This callback runs in the turn in which it was set, and again in the next one.
      if (this.#waiting.length === 0) return;
      this.#openForWaiting();
      this.#serveWaiting();
    });
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#take();
      if (connection === undefined) return;
      const attempt = this.#waiting.shift();
      if (attempt !== undefined) this.#start(attempt, connection);
    }
  }

  #start(attempt: PooledAttempt, connection: ClientConnection): void {
    try {
      if (attempt.start(connection)) return;
    } catch (error) {
      failStart(attempt, connection, error, this.#options.internalError);
      return;
    }
    // A shared one was not taken out of the others.
    if (connection instanceof Http1ClientConnection) this.freed(connection);
  }

  openedHttp1(connection: Http1ClientConnection): void {
    this.#connecting -= 1;
    this.#opensHttp1 = true;
    this.#connections.add(connection);
    const attempt = this.#waiting.shift();
    if (attempt === undefined) this.freed(connection);
    else this.#start(attempt, connection);
    // More was expected of it.
    if (this.#shared !== undefined) this.#openForWaiting();
  }

  openedHttp2(connection: SharedClientConnection, retiresAtMs: number): void {
    this.#connecting -= 1;
    this.#opensHttp1 = false;
    this.#shared?.add(connection, retiresAtMs);
    this.#startWaiting();
    if (this.#closed) this.#shared?.retire();
    this.#openForWaiting();
  }

  /** A failure to connect fails those that have waited longest: as many as the connection would have carried. */
  failed(failure: ConnectFailure): void {
    this.#connecting -= 1;
    const failed = this.#waiting.splice(0, this.#expected);
    this.#openForWaiting();
    if (this.size === 0) this.#options.emptied();
    const name = connectError(failure);
    for (const attempt of failed) attempt.refused(name);
  }

  /**
   * Opens connections for the waiting attempts. One that became idle in this turn of the event loop serves an attempt
   * in the next one: opening another would cost more than that wait, and each connection that is not in use costs the
   * others their place in the caches of the CPU.
   */
  #openForWaiting(): void {
    let wanted = this.#unserved;
    for (; wanted > 0 && !this.#isAtLimit; wanted -= this.#expected) {
      this.#connecting += 1;
      this.#connector.open(this, this.#options.protocol);
    }
  }
}
