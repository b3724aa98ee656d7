import type { QuotaPolicy } from '../../routing-table/routing-table.ts';
import type { LedgerKey } from '../ledger/ledger.ts';
import { QuotaCounter } from './quota-counter.ts';
import type { Leftover } from '../fleet/saved-place.ts';

/** The number of oldest counters that are searched for one whose window has ended. */
const EVICTION_SCAN = 8;
/** For counters that should not be removed there is this much more room. */
const EXTRA_PART = 1 / 4;

/**
 * Keeps at most `maxCounters` counters. If there are more, a counter whose window has ended is removed, otherwise the
 * oldest one. That one is counted in `dropped`, because its lease is lost. Counters with a debt, or with requests that
 * wait, stay as long as there is room for a quarter more.
 */
export class CounterTable {
  readonly #counters = new Map<string, QuotaCounter>();
  readonly #byHash = new Map<string, QuotaCounter>();
  readonly #maxCounters: number;
  readonly #onRemoved: (counter: QuotaCounter) => void;
  #dropped = 0;

  constructor(maxCounters: number, onRemoved: (counter: QuotaCounter) => void) {
    this.#maxCounters = maxCounters;
    this.#onRemoved = onRemoved;
  }

  /** Counters that were removed before their window had ended. */
  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#counters.size;
  }

  /** The counter of this policy and subject, with windows of this length, or undefined. */
  find(policy: QuotaPolicy, subject: string): QuotaCounter | undefined {
    const counter = this.#counters.get(nameOf(policy, subject));
    return counter?.windowMs === policy.windowMs ? counter : undefined;
  }

  /** The counter with this key in the ledger, or undefined. */
  withKey({ hash }: Pick<LedgerKey, 'hash'>): QuotaCounter | undefined {
    return this.#byHash.get(hash);
  }

  /** A counter as `add` would make it. It is not in the table. */
  emptyCounter(policy: QuotaPolicy, subject: string): QuotaCounter {
    return QuotaCounter.of(nameOf(policy, subject), policy, 0);
  }

  all(): Iterable<QuotaCounter> {
    return this.#counters.values();
  }

  /**
   * Adds a counter, or gives a leftover its name. One with windows of another length becomes a leftover: it is used again
   * if the policy gets that length again.
   *
   * @param nowMs by the monotonic clock
   * @param serverMs by the clock of the ledger
   */
  add(policy: QuotaPolicy, subject: string, nowMs: number, serverMs: number): QuotaCounter {
    const name = nameOf(policy, subject);
    const counter = QuotaCounter.of(name, policy, nowMs);
    const former = this.#counters.get(name);
    if (former !== undefined) this.#rename(former, former.key.hash);
    const leftover = this.#byHash.get(counter.key.hash);
    if (leftover !== undefined) {
      this.#rename(leftover, name);
      leftover.nameAs(name, policy);
      return leftover;
    }
    if (this.#counters.size >= this.#maxCounters) this.#evictOne(serverMs);
    this.#insert(counter);
    return counter;
  }

  /** Adds what the former process with this data folder left of a window. */
  addLeftover(leftover: Leftover, nowMs: number): QuotaCounter {
    const counter = QuotaCounter.ofLeftover(leftover, nowMs);
    this.#insert(counter);
    return counter;
  }

  #insert(counter: QuotaCounter): void {
    this.#counters.set(counter.name, counter);
    this.#byHash.set(counter.key.hash, counter);
  }

  #rename(counter: QuotaCounter, name: string): void {
    this.#counters.delete(counter.name);
    counter.name = name;
    this.#counters.set(name, counter);
  }

  #evictOne(serverMs: number): void {
    let oldest: QuotaCounter | undefined;
    let scanned = 0;
    for (const counter of this.#counters.values()) {
      const inUse = counter.refilling || counter.waiting.count > 0;
      if (counter.endMs <= serverMs && !inUse) {
        this.#remove(counter);
        return;
      }
      if (inUse || counter.debt > 0) this.#makeNewest(counter);
      else oldest ??= counter;
      scanned += 1;
      if (scanned === EVICTION_SCAN) break;
    }
    if (oldest === undefined && this.#counters.size >= this.#maxCounters * (1 + EXTRA_PART)) {
      [oldest] = this.#counters.values();
    }
    if (oldest === undefined) return;
    this.#remove(oldest);
    this.#dropped += 1;
  }

  /** So that the next search finds others. */
  #makeNewest(counter: QuotaCounter): void {
    this.#counters.delete(counter.name);
    this.#counters.set(counter.name, counter);
  }

  #remove(counter: QuotaCounter): void {
    this.#counters.delete(counter.name);
    this.#byHash.delete(counter.key.hash);
    this.#onRemoved(counter);
  }
}

/** The quota of a whole route has no subject, so it needs no new string. */
function nameOf(policy: QuotaPolicy, subject: string): string {
  return subject === '' ? policy.key : `${policy.key} ${subject}`;
}
