import type { LedgerKey } from './ledger.ts';

/** A data plane asks the others what they do not need of a window. */
export interface RecallRequest {
  readonly key: LedgerKey;
  readonly window: number;
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
}

/** What a data plane answers. */
export type GivenUp = Omit<RecallAnswer, 'slot'>;

/** Asks the other data planes. Resolves when all have answered, or soon without them; never rejects. */
export type Recall = (request: RecallRequest) => Promise<readonly RecallAnswer[]>;

/** The number of entries that are looked at for each new one. */
const SCANNED = 8;

/**
 * The windows of which this data plane has given up its reserve, but has no counter. A counter that is made later must
 * not use it. At the bound nothing more is given up.
 */
export class GivenUpWindows {
  readonly #max: number;
  readonly #windows = new Map<string, { window: number; endMs: number }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns false if there is no room, so that the reserve is not given up */
  add({ hash, windowMs }: LedgerKey, window: number, serverMs: number): boolean {
    const known = this.#windows.get(hash);
    if (known === undefined && !this.#hasRoom(serverMs)) return false;
    const newest = Math.max(window, known?.window ?? window);
    this.#windows.delete(hash);
    this.#windows.set(hash, { window: newest, endMs: (newest + 1) * windowMs });
    return true;
  }

  /** Whether the reserve of this window was given up. */
  has({ hash }: LedgerKey, window: number): boolean {
    return this.#windows.get(hash)?.window === window;
  }

  /** Removes some windows that have ended, the oldest entries first: a full scan would cost too much for each new one. */
  #hasRoom(serverMs: number): boolean {
    let scanned = 0;
    for (const [hash, { endMs }] of this.#windows) {
      if (endMs < serverMs) this.#windows.delete(hash);
      scanned += 1;
      if (scanned === SCANNED) break;
    }
    return this.#windows.size < this.#max;
  }
}
