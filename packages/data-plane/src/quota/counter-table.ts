import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import { QuotaCounter } from './quota-counter.ts';

/** How many of the oldest are looked at for one whose window is over. */
const LOOKED_AT = 8;

/**
 * At most `maxCounters` counters. Past that one goes whose window is over, else the one made first; that
 * one is counted in `dropped`, as it forgets a lease that it did not use.
 */
export class CounterTable {
  readonly #counters = new Map<string, QuotaCounter>();
  readonly #maxCounters: number;
  readonly #onGone: (counter: QuotaCounter) => void;
  #dropped = 0;

  constructor(maxCounters: number, onGone: (counter: QuotaCounter) => void) {
    this.#maxCounters = maxCounters;
    this.#onGone = onGone;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#counters.size;
  }

  find(policy: QuotaPolicy, subject: string): QuotaCounter | undefined {
    return this.#counters.get(nameOf(policy, subject));
  }

  /** @param nowMs by the monotonic clock; `serverMs` by the ledger's */
  add(policy: QuotaPolicy, subject: string, nowMs: number, serverMs: number): QuotaCounter {
    if (this.#counters.size >= this.#maxCounters) this.#makeRoom(serverMs);
    const name = nameOf(policy, subject);
    const counter = new QuotaCounter(name, policy, nowMs);
    this.#counters.set(name, counter);
    return counter;
  }

  #makeRoom(serverMs: number): void {
    let oldest: QuotaCounter | undefined;
    let looked = 0;
    for (const counter of this.#counters.values()) {
      oldest ??= counter;
      if (counter.endMs <= serverMs && counter.waiting.length === 0) {
        this.#remove(counter);
        return;
      }
      looked += 1;
      if (looked === LOOKED_AT) break;
    }
    if (oldest === undefined) return;
    this.#remove(oldest);
    this.#dropped += 1;
  }

  #remove(counter: QuotaCounter): void {
    this.#counters.delete(counter.name);
    this.#onGone(counter);
  }
}

/** A route's own quota has no subject, and costs no new text. */
function nameOf(policy: QuotaPolicy, subject: string): string {
  return subject === '' ? policy.key : `${policy.key} ${subject}`;
}
