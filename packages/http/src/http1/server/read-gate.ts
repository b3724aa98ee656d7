import type { Socket } from 'node:net';
import type { BodyGate } from '../../message/waiting-body.ts';
import type { Clock, Timer } from '../../clock.ts';
import { isInReadBuffer } from '../../message/read-buffer.ts';

/* How far a connection is read: when it is not, and the bytes that have arrived before their turn. */

/** How much is read of one connection before other connections get their turn. */
const TURN_BYTES = 64 * 1024;
/** How much of an unwanted body is read before each pause: 4 MiB a second. */
const UNWANTED_BYTES = 256 * 1024;
const UNWANTED_PAUSE_MS = 64;
/** After this many small chunks there is a pause, because handling a chunk costs more than its bytes. */
const SMALL_CHUNKS = 1024;
const SMALL_CHUNKS_PAUSE_MS = 250;

/** The reasons why a connection is not read; each is one bit. */
export const HOLD = {
  /** Enough has arrived before its turn. */
  ahead: 1,
  /** The body is not being read. */
  body: 2,
  /** A pause, because the bytes of the caller cost too much. */
  pause: 4,
  /** Other connections have their turn. */
  turn: 8,
} as const;

/** Decides whether a connection is read: it is if there is no reason to hold it. */
export class ReadGate implements BodyGate {
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

  /** Sets or clears reasons in `HOLD`. */
  hold(reason: number, hold: boolean): void {
    const before = this.#held;
    this.#held = hold ? before | reason : before & ~reason;
    if (this.#stopped || (before === 0) === (this.#held === 0)) return;
    if (this.#held === 0) this.#socket.resume();
    else this.#socket.pause();
  }

  holdBody(hold: boolean): void {
    this.hold(HOLD.body, hold);
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

  /** Bytes of an unwanted body were read. */
  dropped(bytes: number): void {
    this.#unwantedBytes += bytes;
    if (this.#unwantedBytes < UNWANTED_BYTES || this.#pause !== undefined) return;
    this.#unwantedBytes = 0;
    this.#pauseFor(UNWANTED_PAUSE_MS);
  }

  /** What bounds the memory of a body here is that the connection is not read. */
  consumed(): void {
    return undefined;
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

  /** The connection is closing: nothing that arrives waits for a reader. */
  wantNothing(): void {
    this.hold(HOLD.ahead | HOLD.body, false);
  }

  /** The socket is closed. */
  stop(): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#stopped = true;
  }
}

const EMPTY = Buffer.alloc(0);
const MIN_CAPACITY = 256;

/**
 * The bytes of a connection that have arrived and are not read yet, because the response before them was not sent. Each
 * byte is copied a constant number of times, even if they arrive one by one. Bytes that are read at once are not copied.
 */
export class UnreadBytes {
  /** The unread bytes. */
  #view: Buffer = EMPTY;
  /** The memory of the view if it was copied. More bytes can be added at `#end`. */
  #own: Buffer = EMPTY;
  #end = 0;

  get length(): number {
    return this.#view.length;
  }

  /** Everything unread, valid until more is added. */
  get view(): Buffer {
    return this.#view;
  }

  add(bytes: Buffer): void {
    if (this.#view.length === 0) {
      this.#own = EMPTY;
      this.#view = bytes;
      return;
    }
    if (this.#own.length - this.#end < bytes.length) this.#grow(bytes.length);
    const from = this.#end - this.#view.length;
    this.#end += bytes.copy(this.#own, this.#end);
    this.#view = this.#own.subarray(from, this.#end);
  }

  /** This many bytes were read. */
  skip(bytes: number): void {
    this.#view = bytes === this.#view.length ? EMPTY : this.#view.subarray(bytes);
    if (this.#view.length === 0) this.#own = EMPTY;
  }

  /** Copies the unread bytes if the next read would overwrite them. */
  keep(): void {
    if (isInReadBuffer(this.#view)) this.#grow(0);
  }

  clear(): void {
    this.#view = this.#own = EMPTY;
  }

  #grow(moreBytes: number): void {
    const { length } = this.#view;
    // Grows by half each time, so that all copies together take linear time.
    const capacity = moreBytes === 0 ? length : Math.ceil((length + moreBytes) * 1.5);
    this.#own = Buffer.allocUnsafeSlow(Math.max(MIN_CAPACITY, capacity));
    this.#end = this.#view.copy(this.#own);
    this.#view = this.#own.subarray(0, length);
  }
}
