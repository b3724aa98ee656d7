import { CLOCK_ERROR_MS } from './fleet.ts';
import type { SpentPlace } from './fleet-view.ts';
import type { SavedPlace } from './saved-place.ts';

/**
 * The share does not change this long after a process was killed that had granted what the ledger does not know of. In
 * windows that are longer than this the others may then grant a part of that again.
 */
const SPENT_MS = 60_000;

/** Of which windows a former process with this data folder may have used, or given up, what was kept back for it. */
export class FormerUse {
  #usableFromMs: number;
  #spent: SpentPlace | undefined = undefined;
  #isCertain = false;

  /**
   * @param id of this data plane
   * @param nowMs by the clock of the ledger, if it is known, otherwise by the local clock
   */
  constructor(id: string, nowMs: number, saved: SavedPlace | undefined) {
    this.#usableFromMs = nowMs + CLOCK_ERROR_MS;
    if (saved === undefined) return;
    const { slot, parts, from_ms, owes, leftovers } = saved;
    const isKnown = leftovers !== undefined;
    if (isKnown) {
      this.#usableFromMs = saved.usable_from_ms;
      this.#isCertain = true;
    }
    const beforeMs = owes && !isKnown ? this.#usableFromMs : saved.spent_before_ms;
    if (beforeMs !== undefined) this.#spent = { member: { slot, id, parts, from_ms }, beforeMs };
  }

  /** The share may be used in windows that begin at this time or later. */
  get usableFromMs(): number {
    return this.#usableFromMs;
  }

  /**
   * What was stored under a share that holds from before this time was stored by a former process, and nobody uses it any
   * more. undefined until the time is certain.
   */
  get formerBeforeMs(): number | undefined {
    return this.#isCertain ? this.#usableFromMs : undefined;
  }

  /** What a killed process may have granted; undefined if the ledger knows of all of it. */
  get spent(): SpentPlace | undefined {
    return this.#spent;
  }

  /** @param nowMs by the clock of the ledger, which is known now; the local clock may have been wrong */
  timeIsKnown(nowMs: number): void {
    if (this.#isCertain) return;
    this.#isCertain = true;
    this.#usableFromMs = nowMs + CLOCK_ERROR_MS;
    if (this.#spent !== undefined) {
      this.#spent = { ...this.#spent, beforeMs: this.#usableFromMs };
    }
  }

  /** The place was removed, and what was granted for it is granted again. */
  placeIsLost(): void {
    this.#spent = undefined;
  }

  /** Whether windows that a killed process may have used can still be under way. */
  maySpan(nowMs: number): boolean {
    return this.#spent !== undefined && nowMs < this.#spent.beforeMs + SPENT_MS;
  }
}
