import type { Socket } from 'node:net';
import { ChurningSet, type Member } from '@gateway/http/churning-set';
import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { Clock, Timer } from '@gateway/shared/clock';

export interface SweepLimits {
  /** How long the head of a request may take. */
  readonly headersTimeoutMs: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may read nothing of its response. */
  readonly stalledTimeoutMs: number;
  /** Limit of the server; close to it, idle connections are closed sooner. */
  readonly maxConnections: number;
}

/** What the sweep needs from a connection. */
export interface SweptConnection {
  readonly socket: Socket;
  readonly guard: ConnectionGuard;
  /** Whether it has a request in progress. */
  readonly busy: boolean;
  /** When the current head, or the wait for the first head, started; ms of the monotonic clock. */
  readonly headSinceMs: number | undefined;
  /** Called when the head did not arrive in time. */
  refuseSlowHead(): void;
}

interface Watched extends Member {
  readonly connection: SweptConnection;
  readonly timedOut: () => void;
  readBytes: number;
  sentBytes: number;
  idleSinceMs: number | undefined;
  stalledSinceMs: number | undefined;
}

/**
 * How long connections may be idle. When connections run short, of any protocol, it is less, so that callers who hold idle
 * connections do not keep others out for long.
 *
 * @param open the number of open connections
 */
export function idleTimeout(
  { maxConnections, keepAliveTimeoutMs }: SweepLimits,
  open: () => number,
): () => number {
  return () =>
    open() >= maxConnections * CROWDED ? keepAliveTimeoutMs / CROWDED_DIVISOR : keepAliveTimeoutMs;
}

/** How often a connection is checked within the shortest timeout. */
const CHECKS_PER_TIMEOUT = 4;
/** From this share of `maxConnections` on, the idle timeout is divided by `CROWDED_DIVISOR`. */
const CROWDED = 0.9;
const CROWDED_DIVISOR = 8;
/** Connections checked in a row; checking 10 000 at once would block the event loop for milliseconds. */
const CHECKS_PER_TURN = 250;

/**
 * Closes stalled connections: idle ones between two requests, those whose caller does not read its
 * response (and so holds memory), and those whose request head does not arrive.
 *
 * The sweep checks all connections periodically, which costs a request nothing; a timer per connection
 * took 5 % of a request's CPU time. So a connection is closed up to a quarter of the shortest timeout
 * late, never early.
 */
export class ConnectionSweep {
  readonly #clock: Clock;
  readonly #limits: SweepLimits;
  readonly #idleTimeoutMs: () => number;
  readonly #everyMs: number;
  readonly #open = new ChurningSet<Watched>();
  #timer: Timer | undefined = undefined;
  /** Whether a sweep is in progress. */
  #sweeping = false;

  constructor(clock: Clock, limits: SweepLimits, idleTimeoutMs: () => number) {
    const { headersTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs } = limits;
    this.#clock = clock;
    this.#limits = limits;
    this.#idleTimeoutMs = idleTimeoutMs;
    const shortestMs = Math.min(headersTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs);
    this.#everyMs = Math.ceil(shortestMs / CHECKS_PER_TIMEOUT);
  }

  /**
   * Watches a connection until it closes.
   *
   * @param timedOut called before the connection is closed
   */
  add(connection: SweptConnection, timedOut: () => void): void {
    const { socket } = connection;
    const watched: Watched = {
      place: 0,
      connection,
      timedOut,
      readBytes: 0,
      sentBytes: 0,
      idleSinceMs: undefined,
      stalledSinceMs: undefined,
    };
    this.#open.add(watched);
    if (this.#timer === undefined && !this.#sweeping) this.#schedule();
    socket.on('close', () => {
      this.#open.remove(watched);
      if (this.#open.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    });
  }

  #sweep(): void {
    const idleMs = this.#idleTimeoutMs();
    let next = this.#open.size - 1;
    const sweepNext = () => {
      let checked = 0;
      for (; next >= 0; next -= 1) {
        const watched = this.#open.at(next);
        if (watched === undefined) continue;
        try {
          this.#check(watched, idleMs);
        } catch (error) {
          // The others are still checked.
          watched.connection.guard.fail(error);
        }
        checked += 1;
        if (checked < CHECKS_PER_TURN) continue;
        next -= 1;
        setImmediate(sweepNext);
        return;
      }
      this.#sweeping = false;
      if (this.#open.size > 0) this.#schedule();
    };
    this.#sweeping = true;
    sweepNext();
  }

  #schedule(): void {
    this.#timer = this.#clock.setTimer(this.#everyMs, () => {
      this.#timer = undefined;
      this.#sweep();
    });
  }

  #check(watched: Watched, idleMs: number): void {
    const { connection } = watched;
    const nowMs = this.#clock.monotonicMs();
    const isLate = nowMs - (connection.headSinceMs ?? nowMs) >= this.#limits.headersTimeoutMs;
    if (this.#isOverdue(watched, nowMs, idleMs)) {
      watched.timedOut();
      connection.guard.end('timed_out');
    } else if (isLate) connection.refuseSlowHead();
  }

  #isOverdue(watched: Watched, nowMs: number, idleMs: number): boolean {
    const { connection } = watched;
    const { socket } = connection;
    const { bytesRead, writableLength } = socket;
    const sentBytes = socket.bytesWritten - writableLength;
    const quiet = bytesRead === watched.readBytes && sentBytes === watched.sentBytes;
    watched.readBytes = bytesRead;
    watched.sentBytes = sentBytes;
    const idle = quiet && !connection.busy;
    watched.idleSinceMs = idle ? (watched.idleSinceMs ?? nowMs) : undefined;
    watched.stalledSinceMs =
      quiet && writableLength > 0 ? (watched.stalledSinceMs ?? nowMs) : undefined;
    return (
      nowMs - (watched.idleSinceMs ?? nowMs) >= idleMs ||
      nowMs - (watched.stalledSinceMs ?? nowMs) >= this.#limits.stalledTimeoutMs
    );
  }
}
