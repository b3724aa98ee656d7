import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../src/routing-table/routing-table.ts';
import type { QuotaStore, Requester } from '../src/quota/quota-store.ts';
import { MemoryQuotaStore } from './quota/memory-store.ts';

/** Quotas of a slow store: the test decides when each answer arrives. */
export class SlowQuotas implements QuotaStore {
  readonly dropped = 0;
  /** Each call gives one answer. */
  readonly waiting: (() => void)[] = [];
  readonly requesters: (Requester | undefined)[] = [];
  readonly #counted = new MemoryQuotaStore(1);

  take(
    policy: QuotaPolicy,
    subject: string,
    nowMs: number,
    requester?: Requester,
  ): Promise<FixedWindow> {
    this.requesters.push(requester);
    const answer = this.#counted.take(policy, subject, nowMs);
    return new Promise((resolve) => this.waiting.push(() => resolve(answer)));
  }
}
