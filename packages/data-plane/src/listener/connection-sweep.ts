import type { Socket } from 'node:net';
import type { Clock, Timer } from '@gateway/shared/clock';

export interface SweepLimits {
  /** For the head of a request. */
  readonly headersTimeoutMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may take nothing of what is sent to it. */
  readonly stalledTimeoutMs: number;
  /** Of the server; near to it resting connections make room sooner. */
  readonly maxConnections: number;
}

/** What the sweep asks of a connection. */
export interface SweptConnection {
  readonly socket: Socket;
  /** Whether it owes a response. */
  readonly busy: boolean;
  /** Whether it is no longer one of HTTP; such a one has an idle time-out of its own. */
  readonly handedOver: boolean;
  /** Since when a head is awaited that has begun, or the first one of the connection; ms, monotonic. */
  readonly headSinceMs: number | undefined;
  /** Its head did not arrive in time. */
  refuseSlowHead(): void;
}

interface Watched {
  readonly connection: SweptConnection;
  readBytes: number;
  sentBytes: number;
  idleSinceMs: number | undefined;
  stalledSinceMs: number | undefined;
}

/** How often a connection is looked at within the shortest of its times. */
const LOOKS = 4;
/** From this part of all connections on it is crowded; then a connection may rest for the eighth. */
const CROWDED = 0.9;
const CROWDED_DIVISOR = 8;
/** So many are looked at in a row; a look at 10 000 takes milliseconds, in which others would wait. */
const LOOKED_AT_ONCE = 250;

/**
 * Cuts the connections on which nothing happens: those that rest between two requests, those whose
 * callers take nothing of what is sent to them, so that nobody holds memory by not reading, and those
 * whose head does not come.
 *
 * It looks at all of them now and then, which costs a request nothing; a timer for each took a
 * twentieth of a request's CPU time. So a connection is cut up to a quarter of the shortest time late,
 * never early.
 *
 * Where connections run short those that rest are cut sooner, so that callers who hold connections and
 * ask for nothing do not keep others out for long.
 */
export class ConnectionSweep {
  readonly #clock: Clock;
  readonly #limits: SweepLimits;
  readonly #everyMs: number;
  readonly #open = new Map<Socket, Watched>();
  #timer: Timer | undefined = undefined;
  /** Whether a look is under way. */
  #looking = false;

  constructor(clock: Clock, limits: SweepLimits) {
    const { headersTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs } = limits;
    this.#clock = clock;
    this.#limits = limits;
    const shortestMs = Math.min(headersTimeoutMs, keepAliveTimeoutMs, stalledTimeoutMs);
    this.#everyMs = Math.ceil(shortestMs / LOOKS);
  }

  /** Watches a connection until it closes. */
  add(connection: SweptConnection): void {
    const { socket } = connection;
    const times = { idleSinceMs: undefined, stalledSinceMs: undefined };
    this.#open.set(socket, { connection, readBytes: 0, sentBytes: 0, ...times });
    if (this.#timer === undefined && !this.#looking) this.#lookLater();
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    });
  }

  #look(): void {
    const { maxConnections, keepAliveTimeoutMs, headersTimeoutMs } = this.#limits;
    const nowMs = this.#clock.monotonicMs();
    const crowded = this.#open.size >= maxConnections * CROWDED;
    const restMs = crowded ? keepAliveTimeoutMs / CROWDED_DIVISOR : keepAliveTimeoutMs;
    const left = this.#open.entries();
    const lookOn = () => {
      let looked = 0;
      for (const [socket, watched] of left) {
        const { connection } = watched;
        if (this.#isOverdue(socket, watched, nowMs, restMs)) socket.destroy();
        else if (nowMs - (connection.headSinceMs ?? nowMs) >= headersTimeoutMs)
          connection.refuseSlowHead();
        looked += 1;
        if (looked < LOOKED_AT_ONCE) continue;
        setImmediate(lookOn);
        return;
      }
      this.#looking = false;
      if (this.#open.size > 0) this.#lookLater();
    };
    this.#looking = true;
    lookOn();
  }

  #lookLater(): void {
    this.#timer = this.#clock.setTimer(this.#everyMs, () => {
      this.#timer = undefined;
      this.#look();
    });
  }

  #isOverdue(socket: Socket, watched: Watched, nowMs: number, restMs: number): boolean {
    const { connection } = watched;
    const { bytesRead, writableLength } = socket;
    const sentBytes = socket.bytesWritten - writableLength;
    const quiet = bytesRead === watched.readBytes && sentBytes === watched.sentBytes;
    watched.readBytes = bytesRead;
    watched.sentBytes = sentBytes;
    const resting = quiet && !connection.handedOver && !connection.busy;
    watched.idleSinceMs = resting ? (watched.idleSinceMs ?? nowMs) : undefined;
    watched.stalledSinceMs =
      quiet && writableLength > 0 ? (watched.stalledSinceMs ?? nowMs) : undefined;
    return (
      nowMs - (watched.idleSinceMs ?? nowMs) >= restMs ||
      nowMs - (watched.stalledSinceMs ?? nowMs) >= this.#limits.stalledTimeoutMs
    );
  }
}
