import { FIRST_WINDOW } from './protocol.ts';
import type { WindowBudget } from './window-budget.ts';

/** The most that one connection may have in flight: it bounds what waits for slow readers of its bodies. */
export const MAX_CONNECTION_WINDOW = 8 * 1024 * 1024;
/** The window of a connection at its start, if the process has memory for it. */
const START_WINDOW = 1024 * 1024;
/** The part of the window of a connection that one stream may use, so that one unread body does not stop the others. */
const STREAM_SHARE = 3 / 4;
/** How much a window grows at once. */
const GROWTH = 8;
/** A window was used up if this part of it has arrived within a round trip; a stream may not use all of it. */
const USED_UP = 1 / 3;
/** A round trip is measured when so much has arrived, so that short bodies cost no ping. */
const MIN_MEASURED_BYTES = 16 * 1024;
/** A peer of which so much arrives in a millisecond (1 Gbit/s) needs no larger window. */
const FAST_BYTES_PER_MS = 128 * 1024;

/**
 * A window for what is received (RFC 9113 section 5.2): the peer may send what is available. Its size is the sum of what
 * is available, what waits for a reader, and what was read and is not given back yet.
 */
export class ReceiveWindow {
  #size: number;
  #available: number;
  #read = 0;

  constructor(size: number = FIRST_WINDOW) {
    this.#size = this.#available = size;
  }

  get size(): number {
    return this.#size;
  }

  /** What waits for a reader. */
  get heldBytes(): number {
    return this.#size - this.#available - this.#read;
  }

  /** Bytes have arrived. Returns false if they are more than allowed. */
  receive(bytes: number): boolean {
    this.#available -= bytes;
    return this.#available >= 0;
  }

  /**
   * Bytes were read. A window that is larger than its target gets smaller by not giving them back: the protocol has no
   * way to take back what the peer may send.
   *
   * @param target the size that the window should have
   * @returns by how much the peer is to enlarge the window; 0 if that is not worth a frame yet
   */
  read(bytes: number, target: number): number {
    this.#read += bytes;
    const growth = Math.max(target - this.#size, -this.#read);
    if (growth < 0) {
      this.#size += growth;
      this.#read += growth;
    }
    // What waits for readers cannot be given back, and must not keep the rest from being given back.
    if (this.#read < this.#available && growth <= 0) return 0;
    const increment = this.#read + Math.max(0, growth);
    this.#size += Math.max(0, growth);
    this.#available += increment;
    this.#read = 0;
    return increment;
  }
}

/**
 * The window of a connection, within the memory of the process. It is as large as the bodies that were announced, and
 * grows if the peer uses it up within a round trip. Otherwise it returns to the size of its start.
 */
export class ConnectionWindow {
  readonly #budget: WindowBudget;
  readonly #window: ReceiveWindow;
  readonly #startSize: number;
  /** The size that use justifies. */
  #grown: number;
  /** What announced bodies lack. */
  #announced = 0;
  /** For the round trip that is measured, or the last one: when it began, and what has arrived since then. */
  #sinceMs: number | undefined;
  #arrived = 0;
  /** What the peer could use within the round trip. In the first one it has not read how large the window is. */
  #usable = FIRST_WINDOW;
  /** Whether a body was read within it that may need a larger window. */
  #isWanted = false;
  #isClosed = false;

  /**
   * The first round trip begins: that of the settings.
   *
   * @param nowMs monotonic
   */
  constructor(budget: WindowBudget, nowMs: number) {
    this.#budget = budget;
    this.#sinceMs = nowMs;
    this.#startSize = this.#grown = FIRST_WINDOW + budget.begin(START_WINDOW - FIRST_WINDOW);
    this.#window = new ReceiveWindow(this.#startSize);
  }

  get size(): number {
    return this.#window.size;
  }

  /** What the peer may send at the start beyond FIRST_WINDOW. */
  get firstIncrement(): number {
    return this.#startSize - FIRST_WINDOW;
  }

  /** The size of the windows of streams at their start. */
  get firstOfStream(): number {
    return Math.max(FIRST_WINDOW, Math.floor(this.#startSize * STREAM_SHARE));
  }

  /**
   * The size that the window of a stream should have.
   *
   * @param missing how much of the announced length has not arrived; undefined if none was announced
   */
  targetOfStream(missing: number | undefined): number {
    const { size } = this.#window;
    const others = this.#startSize * (1 - STREAM_SHARE);
    const needed = missing === undefined ? size * STREAM_SHARE : Math.min(missing, size - others);
    return Math.max(this.firstOfStream, Math.floor(needed));
  }

  /** Bodies of so many bytes were announced, or have arrived or ended if it is negative. */
  announce(bytes: number): void {
    this.#announced += bytes;
  }

  /** Bytes have arrived. Returns false if they are more than allowed. */
  receive(bytes: number): boolean {
    this.#arrived += bytes;
    return this.#window.receive(bytes);
  }

  /** Bytes were read, or dropped. Returns by how much the peer is to enlarge the window of the connection. */
  read(bytes: number): number {
    const { size } = this.#window;
    const target = this.#target();
    const growth = target > size ? this.#budget.take(target - size) : 0;
    const increment = this.#window.read(bytes, growth > 0 ? size + growth : Math.min(target, size));
    const smaller = size + growth - this.#window.size;
    if (smaller > 0 && !this.#isClosed) this.#budget.giveBack(smaller);
    return increment;
  }

  #target(): number {
    if (this.#isClosed) return this.#window.size;
    const needed = Math.max(this.#grown, this.#startSize + this.#announced);
    const wanted = Math.min(needed, MAX_CONNECTION_WINDOW);
    return Math.max(this.#startSize, Math.min(wanted, FIRST_WINDOW + this.#budget.share));
  }

  /**
   * Whether a round trip begins now, because the window may be too small. The caller sends a ping and calls
   * `roundTripHasEnded`.
   *
   * @param missing what the body that is read lacks of its announced length; undefined if none was announced
   * @param nowMs monotonic
   */
  startsRoundTrip(missing: number | undefined, nowMs: number): boolean {
    if (missing !== undefined && missing <= this.#window.size) return false;
    this.#isWanted = true;
    if (this.#sinceMs !== undefined || this.#grown >= MAX_CONNECTION_WINDOW) return false;
    if (this.#arrived < MIN_MEASURED_BYTES) return false;
    this.#usable = this.#window.size;
    this.#sinceMs = nowMs;
    this.#arrived = 0;
    return true;
  }

  /**
   * The settings are acknowledged, or the ping is answered. The window grows if the peer has used it up meanwhile, and
   * readers have not let it wait. Returns false if neither was sent.
   */
  roundTripHasEnded(nowMs: number): boolean {
    if (this.#sinceMs === undefined) return false;
    const isUsedUp = this.#arrived >= this.#usable * USED_UP;
    const isFast = this.#usable >= FAST_BYTES_PER_MS * (nowMs - this.#sinceMs);
    const isRead = this.#window.heldBytes <= this.size * USED_UP;
    if (this.#isWanted && isUsedUp && isRead && !isFast) {
      this.#grown = Math.min(this.#grown * GROWTH, MAX_CONNECTION_WINDOW);
    }
    this.#sinceMs = undefined;
    this.#isWanted = false;
    this.#arrived = 0;
    return true;
  }

  /** No stream is open. */
  isIdle(): void {
    this.#grown = this.#startSize;
  }

  /** The connection is closed. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#budget.end(this.#window.size - FIRST_WINDOW);
  }
}
