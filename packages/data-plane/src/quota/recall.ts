import type { LedgerKey } from './ledger.ts';

/** A window of which a data plane asks the others what they do not need. */
export interface RecalledWindow {
  readonly key: LedgerKey;
  readonly window: number;
  readonly limit: number;
  /** The number of requests that it needs next. */
  readonly wanted: number;
}

/** What a data plane asks for. */
export interface RecallRequest extends RecalledWindow {
  /** The slots of the data planes that keep something back. */
  readonly from: readonly number[];
}

/** What one data plane has given up: it may not use it any more, whether or not this answer arrives. */
export interface RecallAnswer {
  readonly slot: number;
  /** What it still keeps back. The rest of its reserve is free, unless it has stored another one meanwhile. */
  readonly keeps: number;
  /** How often it has stored its reserve; 0 if it has its share. */
  readonly writes: number;
  /** A part of its lease, which the one that asked gives back to the ledger. */
  readonly gives: number;
  /**
   * A reserve that was stored under a share from before this time is that of a former process in its place: it is given up
   * too, however often it was stored. Absent if it has a counter of the window.
   */
  readonly former_before_ms?: number | undefined;
}

/** The number that a data plane keeps which gives nothing up: all of its reserve, whatever others know of it. */
export const KEEPS_ALL = Number.MAX_SAFE_INTEGER;

/** What a data plane answers. */
export type GivenUp = Omit<RecallAnswer, 'slot'>;

/** Asks the other data planes. Resolves when all have answered, or soon without them; never rejects. */
export type Recall = (request: RecallRequest) => Promise<readonly RecallAnswer[]>;

/** The number of entries that are looked at for each new one. */
const SCANNED = 8;

/** So few are given up whole: divided further, the last requests of a window would be refused. */
const MIN_GIVEN_UP = 10;

/**
 * How much of a spare reserve is given up: what is wanted, and at least half. So a data plane that needs all of a limit
 * gets it with few questions, and one that needs little leaves the others what they can grant without NATS.
 */
export function partToGiveUp(spare: number, wanted: number): number {
  return Math.min(spare, Math.max(wanted, MIN_GIVEN_UP, Math.ceil(spare / 2)));
}

/** What is kept back of a window without a counter. */
interface Kept {
  readonly windowMs: number;
  readonly window: number;
  readonly limit: number;
  readonly keeps: number;
}

/**
 * The windows of which this data plane has given up reserve, but has no counter. A counter that is made later has only
 * what it kept. At the bound nothing more is given up.
 */
export class GivenUpWindows {
  readonly #max: number;
  readonly #windows = new Map<string, Kept>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns false if there is no room, so that nothing is given up */
  add({ hash, windowMs }: LedgerKey, kept: Omit<Kept, 'windowMs'>, serverMs: number): boolean {
    const known = this.#windows.get(hash);
    if (known === undefined && !this.#hasRoom(serverMs)) return false;
    if (known !== undefined && known.window > kept.window) return true;
    this.#windows.delete(hash);
    this.#windows.set(hash, { windowMs, ...kept });
    return true;
  }

  /** What was kept of this window; undefined if nothing was given up. */
  keeps({ hash }: LedgerKey, window: number): number | undefined {
    const known = this.#windows.get(hash);
    return known?.window === window ? known.keeps : undefined;
  }

  all(): Iterable<readonly [hash: string, kept: Kept]> {
    return this.#windows;
  }

  /** Removes some windows that have ended, the oldest entries first: a full scan would cost too much for each new one. */
  #hasRoom(serverMs: number): boolean {
    let scanned = 0;
    for (const [hash, { window, windowMs }] of this.#windows) {
      if ((window + 1) * windowMs < serverMs) this.#windows.delete(hash);
      scanned += 1;
      if (scanned === SCANNED) break;
    }
    return this.#windows.size < this.#max;
  }
}
