import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';

/** How much is read of one connection before the others have their turn. */
const TURN_BYTES = 64 * 1024;
/** How much of a body that nobody wants is read before each pause: 4 MiB a second. */
const UNWANTED_BYTES = 256 * 1024;
const UNWANTED_PAUSE_MS = 64;
/** After so many small chunks of a body it is read on only after a pause: handling one costs more than its bytes. */
const SMALL_CHUNKS = 1024;
const SMALL_CHUNKS_PAUSE_MS = 250;

/** Why a connection is not read at present; each is one bit. */
export const HOLD = {
  /** Enough was sent ahead. */
  ahead: 1,
  /** Nobody reads the body. */
  body: 2,
  /** A pause, because the caller sends what costs too much. */
  pause: 4,
  /** Other connections have their turn. */
  turn: 8,
} as const;

/** Decides whether a connection is read: it is if nothing holds it. */
export class ReadGate {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #held = 0;
  #stopped = false;
  #turnBytes = 0;
  #unwantedBytes = 0;
  #smallChunks = 0;
  #pause: Timer | undefined = undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Sets or clears one of the reasons in `HOLD`. */
  hold(reason: number, hold: boolean): void {
    const before = this.#held;
    this.#held = hold ? before | reason : before & ~reason;
    if (this.#stopped || (before === 0) === (this.#held === 0)) return;
    if (this.#held === 0) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Bytes were read. A caller that sends as fast as it can does not delay the others. */
  read(bytes: number): void {
    this.#turnBytes += bytes;
    if (this.#turnBytes < TURN_BYTES) return;
    this.#turnBytes = 0;
    this.hold(HOLD.turn, true);
    setImmediate(() => {
      this.hold(HOLD.turn, false);
    });
  }

  /** Bytes of a body that nobody wants were read. */
  dropped(bytes: number): void {
    this.#unwantedBytes += bytes;
    if (this.#unwantedBytes < UNWANTED_BYTES || this.#pause !== undefined) return;
    this.#unwantedBytes = 0;
    this.#pauseFor(UNWANTED_PAUSE_MS);
  }

  /** The body that is being read has had `count` small chunks so far. */
  hadSmallChunks(count: number): void {
    if (count < this.#smallChunks) this.#smallChunks = 0;
    if (count - this.#smallChunks < SMALL_CHUNKS) return;
    this.#smallChunks = count;
    if (this.#pause === undefined) this.#pauseFor(SMALL_CHUNKS_PAUSE_MS);
  }

  #pauseFor(ms: number): void {
    this.hold(HOLD.pause, true);
    this.#pause = this.#clock.setTimer(ms, () => {
      this.#pause = undefined;
      this.hold(HOLD.pause, false);
    });
  }

  /** The connection is about to end: from now on nothing holds it. */
  open(): void {
    this.stop();
    this.#socket.resume();
  }

  /** The socket is closed or taken over. */
  stop(): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#stopped = true;
  }
}
