import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';

/** Who asks for one of a quota, and may stop waiting for the answer. */
export interface Asker {
  readonly clientGone: boolean;
  /** By the monotonic clock. */
  readonly deadlineMs: number;
}

/** Where the windows of quotas are counted. Answers at once unless it has to ask another machine. */
export interface QuotaStore {
  /**
   * Takes one from the policy's window of this subject: a route, a token or an address. Nothing is taken for an asker
   * who has left, or whose deadline has passed, before there was an answer; that promise stays open.
   */
  take(
    policy: QuotaPolicy,
    subject: string,
    nowMs: number,
    asker?: Asker,
  ): FixedWindow | Promise<FixedWindow>;
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
