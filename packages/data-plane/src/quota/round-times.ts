import type { QuotaCounter } from './quota-counter.ts';

/** The latency of the ledger is that of the quickest of the last rounds; a single slow one often has other reasons. */
const ROUNDS_KEPT = 4;
const MAX_ROUND_MS = 1000;

/** The durations of the last rounds with the ledger. */
export class RoundTimes {
  /** ms. */
  readonly #last: number[] = [];

  add(tookMs: number): void {
    this.#last.push(tookMs);
    if (this.#last.length > ROUNDS_KEPT) this.#last.shift();
  }

  /** The expected time of a round, ms; longer after rounds that lost to other data planes. */
  expectedMs({ lostRaceMs }: Pick<QuotaCounter, 'lostRaceMs'>): number {
    const quickest = this.#last.length === 0 ? 0 : Math.min(...this.#last);
    return Math.min(MAX_ROUND_MS, Math.max(quickest, lostRaceMs));
  }
}
