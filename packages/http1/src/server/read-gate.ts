import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';

/** What is read of one connection in a row; then it is the turn of the others. */
const TURN_BYTES = 64 * 1024;
/** What is read of a body that nobody wants any more, and the rest after it: 4 MiB a second. */
const UNWANTED_BYTES = 256 * 1024;
const UNWANTED_REST_MS = 64;
/** So many small chunks of a body, and it is read on only after a rest. */
const SMALL_CHUNKS = 1024;
const SMALL_CHUNKS_REST_MS = 250;

/** Why a connection is not read at present. */
export const HELD = {
  /** Enough has been sent ahead. */
  ahead: 1,
  /** Nobody takes the body. */
  body: 2,
  /** Nobody wants the body. */
  rest: 4,
  /** It is the turn of others. */
  turn: 8,
} as const;

/** Whether a connection is read: it is where nothing holds it. */
export class ReadGate {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #held = 0;
  #stopped = false;
  #turnBytes = 0;
  #unwantedBytes = 0;
  #smallChunks = 0;
  #rest: Timer | undefined = undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  hold(reason: number, hold: boolean): void {
    const before = this.#held;
    this.#held = hold ? before | reason : before & ~reason;
    if (this.#stopped || (before === 0) === (this.#held === 0)) return;
    if (this.#held === 0) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Bytes were read. A caller that sends as fast as it can does not hold up the others. */
  read(bytes: number): void {
    this.#turnBytes += bytes;
    if (this.#turnBytes < TURN_BYTES) return;
    this.#turnBytes = 0;
    this.hold(HELD.turn, true);
    setImmediate(() => {
      this.hold(HELD.turn, false);
    });
  }

  /** Bytes were read to be dropped. */
  dropped(bytes: number): void {
    this.#unwantedBytes += bytes;
    if (this.#unwantedBytes < UNWANTED_BYTES || this.#rest !== undefined) return;
    this.#unwantedBytes = 0;
    this.#restFor(UNWANTED_REST_MS);
  }

  /** The body that is being read has had so many small chunks until now. */
  hadSmallChunks(count: number): void {
    if (count < this.#smallChunks) this.#smallChunks = 0;
    if (count - this.#smallChunks < SMALL_CHUNKS) return;
    this.#smallChunks = count;
    if (this.#rest === undefined) this.#restFor(SMALL_CHUNKS_REST_MS);
  }

  #restFor(ms: number): void {
    this.hold(HELD.rest, true);
    this.#rest = this.#clock.setTimer(ms, () => {
      this.#rest = undefined;
      this.hold(HELD.rest, false);
    });
  }

  /** Nothing holds it any more, whatever comes: the connection is about to end. */
  open(): void {
    this.stop();
    this.#socket.resume();
  }

  /** The socket is gone, or another's. */
  stop(): void {
    this.#rest?.cancel();
    this.#rest = undefined;
    this.#stopped = true;
  }
}
