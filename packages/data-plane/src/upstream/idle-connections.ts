import { performance } from 'node:perf_hooks';
import type { Http1ClientConnection } from '@gateway/http/http1/client/connection';
import type { Clock } from '@gateway/shared/clock';

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
 * The idle connections of a pool. The most recently used one is used first, so that surplus connections stay idle and
 * are closed.
 */
export class IdleConnections {
  readonly #clock: Clock;
  /** In the order in which they became idle; those of one turn of the event loop in any order. */
  readonly #connections: Http1ClientConnection[] = [];
  /** The last turn of the event loop in which one became idle, and how many of them did; those are the newest. */
  #turn = -1;
  #ofTurn = 0;
  #sweeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#connections.length;
  }

  /**
   * Adds a connection. It is not taken before the next turn of the event loop, so that unexpected bytes after the
   * response are noticed while no exchange uses it. Comparing the number of the turn costs less than a callback at its
   * end.
   */
  add(connection: Http1ClientConnection, nowMs: number): void {
    connection.idleSinceMs = nowMs;
    const turn = currentTurn();
    if (turn !== this.#turn) this.#ofTurn = 0;
    this.#turn = turn;
    this.#ofTurn += 1;
    this.#connections.push(connection);
    this.#sweepLater();
  }

  /** The connection is closed. */
  remove(connection: Http1ClientConnection): void {
    const index = this.#connections.indexOf(connection);
    if (index === -1) return;
    if (index >= this.#connections.length - this.#ofTurn) this.#ofTurn -= 1;
    this.#connections.splice(index, 1);
  }

  /** Takes a connection, but not one that became idle in this turn of the event loop. */
  take(): Http1ClientConnection | undefined {
    const connections = this.#connections;
    if (connections.length === 0) return undefined;
    if (currentTurn() !== this.#turn) this.#ofTurn = 0;
    for (let index = connections.length - 1 - this.#ofTurn; index >= 0; index -= 1) {
      const one = connections[index];
      // Those of this turn need no order among themselves, so the last one closes the gap.
      const last = connections.pop();
      if (last !== undefined && last !== one) connections[index] = last;
      if (one !== undefined && this.#isKept(one)) return one;
    }
    return undefined;
  }

  /** Closes all of them now. */
  destroy(): void {
    for (const connection of [...this.#connections]) connection.destroy();
  }

  /** Whether a connection can still be used. Otherwise it is closed. */
  #isKept(connection: Http1ClientConnection): boolean {
    try {
      if (connection.free > 0 && !this.#isStale(connection)) return true;
      connection.destroy();
    } catch (error) {
      connection.guard.fail(error);
    }
    return false;
  }

  #isStale(connection: Http1ClientConnection): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= connection.retiresAtMs) return true;
    const hintMs = connection.keepAliveHintMs ?? Infinity;
    const idleMs = nowMs - connection.idleSinceMs;
    return idleMs >= Math.min(MAX_IDLE_MS, Math.max(0, hintMs - HINT_MARGIN_MS));
  }

  #sweepLater(): void {
    if (this.#sweeping || this.#connections.length === 0) return;
    this.#sweeping = true;
    this.#clock.setTimer(SWEEP_MS, () => {
      this.#sweeping = false;
      for (const connection of [...this.#connections]) this.#isKept(connection);
      this.#sweepLater();
    });
  }
}

const { nodeTiming } = performance;

/** The number of the current turn of the event loop; libuv increments it before each poll. */
function currentTurn(): number {
  return nodeTiming.uvMetricsInfo.loopCount;
}
