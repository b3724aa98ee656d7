import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaStore } from '../../src/quota/quota-store.ts';
import type { QuotaPolicy } from '../../src/routing-table/routing-table.ts';

/** A store in memory, the reference for the contract of the store. It counts at most `maxKeys` subjects. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #counters: FixedWindowCounters;

  constructor(maxKeys: number) {
    this.#counters = new FixedWindowCounters(maxKeys);
  }

  get dropped(): number {
    return this.#counters.dropped;
  }

  take(policy: QuotaPolicy, subject: string, nowMs: number): FixedWindow {
    const key = subject === '' ? policy.key : `${policy.key} ${subject}`;
    return this.#counters.take(key, policy.limit, policy.windowMs, nowMs);
  }
}
