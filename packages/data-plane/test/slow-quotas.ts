import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../src/routing-table/routing-table.ts';
import { LocalQuotaStore, type Asker, type QuotaStore } from '../src/quota/quota-store.ts';

/** Quotas as of a store that is far away: each answer comes when the test says so. */
export class SlowQuotas implements QuotaStore {
  readonly dropped = 0;
  /** Each gives an answer that somebody waits for. */
  readonly waiting: (() => void)[] = [];
  readonly askers: (Asker | undefined)[] = [];
  readonly #counted = new LocalQuotaStore(1);

  take(policy: QuotaPolicy, subject: string, nowMs: number, asker?: Asker): Promise<FixedWindow> {
    this.askers.push(asker);
    const answer = this.#counted.take(policy, subject, nowMs);
    return new Promise((resolve) => this.waiting.push(() => resolve(answer)));
  }
}
