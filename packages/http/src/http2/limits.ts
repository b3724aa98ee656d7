import type { Clock } from '../clock.ts';

/**
 * Frames that keep a process busy and belong to no message, by kind, with what a connection may send of each: so many at
 * once, so many more in each second, and so many more for each frame of DATA that it is sent. No client that we know of
 * comes near.
 */
export const ALLOWED = {
  /** Pings, and replies to pings that were not sent. gRPC clients measure with them while they receive. */
  ping: { burst: 500, perSecond: 50, perData: 1 },
  settings: { burst: 100, perSecond: 5, perData: 0 },
  goAway: { burst: 20, perSecond: 1, perData: 0 },
  /** Also priorities of streams that do not exist (RFC 9113 section 5.3.2: they have no effect). */
  priority: { burst: 1000, perSecond: 100, perData: 0 },
  windowUpdate: { burst: 2000, perSecond: 200, perData: 2 },
  /** DATA without a byte of a body, unless it ends its stream. */
  emptyData: { burst: 1000, perSecond: 100, perData: 0 },
  /** CONTINUATION frames beyond the first of each block. */
  continuation: { burst: 500, perSecond: 50, perData: 0 },
  /**
   * Frames of streams that are closed. DATA counts if it is empty: windows bound the rest, and a caller sends as much as
   * they allow before it reads that its request was refused.
   */
  closedStream: { burst: 2000, perSecond: 200, perData: 2 },
  /** Requests that are refused for their size or because too many streams are open. */
  refused: { burst: 200, perSecond: 20, perData: 0 },
  /** Frames of unknown types (RFC 9113 section 5.5: they are ignored). */
  unknown: { burst: 500, perSecond: 50, perData: 0 },
} as const;
export type FrameKind = keyof typeof ALLOWED;

const KINDS = Object.keys(ALLOWED) as readonly FrameKind[];
const MINUTE_MS = 60_000;

/** What a connection may still send of each kind, and how many of its streams may still be reset. */
export class Ledger {
  readonly #clock: Clock;
  readonly #maxResetsPerMinute: number;
  /** Only kinds that were used have an entry. */
  readonly #left = new Map<FrameKind, number>();
  #refilledMs: number;
  #resets = 0;
  #resetsSinceMs: number;

  constructor(clock: Clock, maxResetsPerMinute: number) {
    this.#clock = clock;
    this.#maxResetsPerMinute = maxResetsPerMinute;
    this.#refilledMs = this.#resetsSinceMs = clock.monotonicMs();
  }

  /** Counts a frame. Returns false if there are too many. */
  allows(kind: FrameKind): boolean {
    let left = this.#left.get(kind) ?? ALLOWED[kind].burst;
    if (left === 0) {
      this.#refill();
      left = this.#left.get(kind) ?? 0;
    }
    this.#left.set(kind, Math.max(0, left - 1));
    return left > 0;
  }

  /** Allows so many further frames of a kind, because this end causes them. */
  allowMore(kind: FrameKind, frames: number): void {
    const left = this.#left.get(kind);
    const { burst } = ALLOWED[kind];
    if (left !== undefined) this.#left.set(kind, Math.min(left + frames, burst));
  }

  /** Allows further frames, because the peer was sent DATA. */
  sentData(frames: number): void {
    for (const [kind, left] of this.#left) {
      const { burst, perData } = ALLOWED[kind];
      if (perData > 0) this.#left.set(kind, Math.min(left + perData * frames, burst));
    }
  }

  /**
   * Counts a stream that ended before its response, whichever side has reset it: a peer can make the other side reset
   * streams too (CVE-2023-44487, CVE-2025-8671). Returns false if there are too many.
   */
  allowsReset(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#resetsSinceMs >= MINUTE_MS) {
      this.#resetsSinceMs = nowMs;
      this.#resets = 0;
    }
    this.#resets += 1;
    return this.#resets <= this.#maxResetsPerMinute;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const seconds = Math.floor((nowMs - this.#refilledMs) / 1000);
    if (seconds === 0) return;
    this.#refilledMs += seconds * 1000;
    for (const kind of KINDS) {
      const left = this.#left.get(kind);
      const { burst, perSecond } = ALLOWED[kind];
      if (left !== undefined) this.#left.set(kind, Math.min(burst, left + seconds * perSecond));
    }
  }
}
