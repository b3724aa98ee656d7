import type { Clock, Timer } from '../clock.ts';
import { createHttpDate } from '../message/http-date.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { Connection } from './connection.ts';
import type { Http2Options, ServerState } from './options.ts';
import type { EndReason } from './protocol.ts';
import { RequestTurns } from './request-turns.ts';
import { WindowBudget } from './window-budget.ts';

/** Connections are checked this often within the shortest of their time-outs. */
const CHECKS = 4;
const MAX_CHECK_INTERVAL_MS = 1_000;

/** Serves connections whose peers chose HTTP/2. */
export class Http2Server {
  readonly #options: Http2Options;
  readonly #state: ServerState;
  readonly #connections = new Set<Connection>();
  readonly #intervalMs: number;
  #timer: Timer | undefined = undefined;
  readonly #closed: (() => void)[] = [];

  constructor(options: Http2Options) {
    this.#options = options;
    const budget = new WindowBudget(options.maxWindowBytes);
    const date = createHttpDate(options.clock);
    this.#state = { budget, requestTurns: new RequestTurns(), date };
    const { headTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs } = options.limits;
    const shortestMs = Math.min(headTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs);
    this.#intervalMs = Math.min(Math.ceil(shortestMs / CHECKS), MAX_CHECK_INTERVAL_MS);
  }

  /** How many connections are open. */
  get size(): number {
    return this.#connections.size;
  }

  /**
   * Serves a connection.
   *
   * @param ended called when it ends because of its peer
   */
  accept(socket: ReadSocket, ended: (reason: EndReason) => void): Connection {
    const connection = new Connection(socket, this.#options, this.#state, ended);
    this.#connections.add(connection);
    socket.socket.once('close', () => {
      this.#connections.delete(connection);
      if (this.#connections.size > 0) return;
      for (const resolve of this.#closed.splice(0)) resolve();
    });
    this.#timer ??= this.#clock.setTimer(this.#intervalMs, this.#check);
    return connection;
  }

  get #clock(): Clock {
    return this.#options.clock;
  }

  readonly #check = () => {
    const nowMs = this.#clock.monotonicMs();
    this.#each((connection) => {
      connection.check(nowMs);
    });
    const isNeeded = this.#connections.size > 0;
    this.#timer = isNeeded ? this.#clock.setTimer(this.#intervalMs, this.#check) : undefined;
  };

  /** An exception ends its connection only. */
  #each(act: (connection: Connection) => void): void {
    for (const connection of this.#connections) {
      connection.guard.run(() => {
        act(connection);
      });
    }
  }

  /** Closes each connection when it has no stream; new requests of the others are still accepted. */
  drain(): void {
    this.#each((connection) => {
      connection.drain();
    });
  }

  /** Asks all peers to open no more streams. Connections close when their last stream has ended. */
  goAway(): void {
    this.#each((connection) => {
      connection.goAway();
    });
  }

  /** Resolves when no connection is open. */
  async closed(): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => this.#closed.push(resolve));
  }

  /** Closes every connection now. */
  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
