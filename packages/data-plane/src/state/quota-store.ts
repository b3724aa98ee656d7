import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../table/routing-table.ts';

/** Where the windows of quotas are counted. Answers at once unless it has to ask another machine. */
export interface QuotaStore {
  /** Takes one from the policy's window of this subject: a route, a token or an address. */
  take(policy: QuotaPolicy, subject: string, nowMs: number): FixedWindow | Promise<FixedWindow>;
}

/** Counts in the memory of this data plane alone, for at most `maxKeys` subjects. */
export class LocalQuotaStore implements QuotaStore {
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
