import type { Timer } from '../../clock.ts';
import { isLate, type ConnectedSocket } from '../../sockets/connect.ts';
import { WindowBudget } from '../window-budget.ts';
import { Http2ClientConnection, type Http2ConnectionOwner } from './connection.ts';
import type { ClientLimits, ClientState, Http2ClientOptions } from './options.ts';
import { FIELD_LIMITS } from './responses.ts';

/** Connections are checked this often within the shortest of their time-outs. */
const CHECKS = 4;
const MAX_CHECK_INTERVAL_MS = 1_000;

const LIMITS: ClientLimits = {
  ...FIELD_LIMITS,
  maxConcurrentStreams: 100,
  // Each reset of the server ends a request of this end, which bounds them.
  maxResetsPerMinute: Infinity,
  headTimeoutMs: 10_000,
  keepAliveTimeoutMs: 30_000,
  silentMs: 10_000,
  pingTimeoutMs: 5_000,
};

/** Opens connections to servers that chose HTTP/2. */
export class Http2Client {
  readonly #state: ClientState;
  readonly #connections = new Set<Http2ClientConnection>();
  readonly #intervalMs: number;
  #timer: Timer | undefined = undefined;
  #dueMs = 0;
  /** Whether the last check was skipped. */
  #isSkipped = false;

  constructor({ clock, limits, maxWindowBytes, ended = () => undefined }: Http2ClientOptions) {
    const all = { ...LIMITS, ...limits };
    this.#state = { clock, limits: all, budget: new WindowBudget(maxWindowBytes), ended };
    const { headTimeoutMs, keepAliveTimeoutMs, silentMs, pingTimeoutMs } = all;
    const shortestMs = Math.min(headTimeoutMs, keepAliveTimeoutMs, silentMs, pingTimeoutMs);
    this.#intervalMs = Math.min(Math.ceil(shortestMs / CHECKS), MAX_CHECK_INTERVAL_MS);
  }

  /** How many connections are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** How many exchanges its connections carry. */
  get carried(): number {
    let sum = 0;
    for (const connection of this.#connections) sum += connection.carried;
    return sum;
  }

  /** Uses an open connection, with TLS or without, whose server speaks HTTP/2. Requests may be sent at once. */
  open(connected: ConnectedSocket, owner: Http2ConnectionOwner): Http2ClientConnection {
    const connection = new Http2ClientConnection(connected, owner, this.#state, this.#intervalMs);
    this.#connections.add(connection);
    connected.socket.once('close', () => {
      this.#connections.delete(connection);
    });
    if (this.#timer === undefined) this.#setTimer();
    return connection;
  }

  readonly #check = () => {
    const { clock } = this.#state;
    const nowMs = clock.monotonicMs();
    // After a pause of this process, what has arrived meanwhile is read first.
    this.#isSkipped = !this.#isSkipped && isLate(this.#dueMs, nowMs);
    if (!this.#isSkipped) this.#checkAll(nowMs);
    this.#timer = undefined;
    if (this.#connections.size > 0) this.#setTimer();
  };

  #setTimer(): void {
    const { clock } = this.#state;
    this.#dueMs = clock.monotonicMs() + this.#intervalMs;
    this.#timer ??= clock.setTimer(this.#intervalMs, this.#check);
  }

  #checkAll(nowMs: number): void {
    for (const connection of this.#connections) {
      connection.guard.run(() => {
        connection.check(nowMs);
      });
    }
  }

  /** Closes every connection now. */
  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
