import type { Clock } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import type { Asker, QuotaStore } from './quota-store.ts';
import { CounterTable } from './counter-table.ts';
import { LeaseTaker, type LeaseTakerOptions } from './lease-taker.ts';
import { shareLeft } from './lease-size.ts';
import type { QuotaCounter } from './quota-counter.ts';
import { emptyQuotaCounts, type QuotaCounts } from './quota-counts.ts';
import { ServerClock, type ServerClockOptions } from './server-clock.ts';

type TakerOptions = Pick<
  LeaseTakerOptions,
  'ledger' | 'clock' | 'log' | 'liveNodes' | 'newLeaseId'
>;

export interface LeasedQuotaOptions extends ServerClockOptions, TakerOptions {
  /** How many policies and subjects are counted at once. */
  readonly maxCounters: number;
}

/**
 * Quotas that hold over all data planes together: each takes leases of a window from one ledger and
 * grants requests out of them. With a lease in hand the answer comes at once; who finds it empty waits
 * for the one refill under way. While the ledger is away each data plane grants its share.
 *
 * docs/adr/0009-quota-leases.md states the guarantees.
 */
export class LeasedQuotaStore implements QuotaStore {
  readonly counts: QuotaCounts = emptyQuotaCounts();
  readonly #clock: Clock;
  readonly #liveNodes: () => number;
  readonly #time: ServerClock;
  readonly #leases: LeaseTaker;
  readonly #counters: CounterTable;

  constructor(options: LeasedQuotaOptions) {
    this.#clock = options.clock;
    this.#liveNodes = options.liveNodes;
    this.#time = new ServerClock(options);
    this.#leases = new LeaseTaker({
      ...options,
      counts: this.counts,
      timeKnown: () => options.serverTimeOffsetMs() !== undefined,
      serverMs: () => this.#serverMs(),
      onRefilled: (counter) => this.#answerWaiting(counter),
    });
    this.#counters = new CounterTable(options.maxCounters, (gone) => this.#leases.forget(gone));
  }

  /** Counters that were forgotten while their window ran. */
  get dropped(): number {
    return this.#counters.dropped;
  }

  /** Counters at hand. */
  get size(): number {
    return this.#counters.size;
  }

  /** Whether leases are available; otherwise the share rule decides. */
  get leasing(): boolean {
    return this.#leases.open;
  }

  /** @param nowMs by the local wall clock */
  take(
    policy: QuotaPolicy,
    subject: string,
    nowMs: number,
    asker?: Asker,
  ): FixedWindow | Promise<FixedWindow> {
    this.counts.takes += 1;
    const serverMs = this.#time.serverMs(nowMs);
    const counter =
      this.#counters.find(policy, subject) ??
      this.#counters.add(policy, subject, this.#clock.monotonicMs(), serverMs);
    if (counter.limit !== policy.limit || counter.windowMs !== policy.windowMs) {
      counter.adopt(policy);
    }
    // Whoever waits was there first.
    const decided = counter.waiting.length === 0 ? this.#decide(counter, serverMs) : undefined;
    return decided ?? this.#wait(counter, serverMs, asker);
  }

  #serverMs(): number {
    return this.#time.serverMs(this.#clock.nowMs());
  }

  /** Takes one, or refuses; undefined where that has to wait. */
  #decide(counter: QuotaCounter, serverMs: number): FixedWindow | undefined {
    const { marginMs } = this.#time;
    if (serverMs >= counter.endMs || serverMs < counter.startMs - 2 * marginMs) {
      this.#leases.forget(counter);
      counter.turn(serverMs, marginMs);
    }
    if (counter.usedUp) {
      if (counter.mayBecomeLess) this.#leases.lookAgain(counter);
      return counter.view(false, 0, serverMs);
    }
    if (this.#wakeAtMs(counter, serverMs) !== undefined) return undefined;
    if (counter.unused > 0) {
      counter.takeLeased();
      if (counter.unused <= counter.lowWater) this.#leases.refillAhead(counter);
      return counter.view(true, remainingOf(counter), serverMs);
    }
    if (!counter.shareOnly && this.#leases.open) return undefined;
    return this.#takeOfShare(counter, serverMs);
  }

  /**
   * When to go on, by the ledger's clock, where nothing can be taken now: it is not certain for all data
   * planes alike which window this is. undefined where it is.
   */
  #wakeAtMs(counter: QuotaCounter, serverMs: number): number | undefined {
    if (serverMs < counter.usableFromMs) return counter.usableFromMs;
    if (serverMs >= counter.usableUntilMs) return counter.endMs;
    // Then the ledger may be at the next window already, and of use again soon.
    const soonOver = serverMs >= counter.usableUntilMs - 2 * this.#time.marginMs;
    return counter.shareOnly && soonOver ? counter.endMs : undefined;
  }

  #takeOfShare(counter: QuotaCounter, serverMs: number): FixedWindow {
    this.counts.shared += 1;
    const { limit, used, granted, debt } = counter;
    const left = shareLeft({ limit, used, granted, debt, nodes: this.#liveNodes() });
    if (left > 0) counter.takeOfShare();
    this.#leases.owes(counter);
    return counter.view(left > 0, Math.max(0, left - 1), serverMs);
  }

  #wait(counter: QuotaCounter, serverMs: number, asker: Asker | undefined): Promise<FixedWindow> {
    const untilWindow = this.#wakeAtMs(counter, serverMs) !== undefined;
    this.counts[untilWindow ? 'windowWaits' : 'leaseWaits'] += 1;
    return new Promise((answer) => {
      counter.waiting.push({ asker, answer });
      if (counter.waiting.length === 1) this.#seeToWaiting(counter);
    });
  }

  /** Makes sure that those who wait are asked again: when time has gone on, or a refill is over. */
  #seeToWaiting(counter: QuotaCounter): void {
    const serverMs = this.#serverMs();
    const wakeAtMs = this.#wakeAtMs(counter, serverMs);
    // At the beginning of a window the lease is fetched before it may be used.
    const early = serverMs < counter.usableFromMs;
    if ((early || wakeAtMs === undefined) && counter.unused === 0 && this.#leases.open) {
      this.#leases.refill(counter);
    }
    if (wakeAtMs === undefined && counter.refilling) return;
    counter.wake?.cancel();
    const delayMs = Math.max(1, Math.ceil((wakeAtMs ?? 0) - serverMs));
    counter.wake = this.#clock.setTimer(delayMs, () => this.#answerWaiting(counter));
  }

  #answerWaiting(counter: QuotaCounter): void {
    counter.dropGone(this.#clock.monotonicMs());
    const { waiting } = counter;
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const decided = this.#decide(counter, this.#serverMs());
      if (decided === undefined) {
        waiting.unshift(first);
        this.#seeToWaiting(counter);
        return;
      }
      first.answer(decided);
    }
  }
}

/** What is left of the window, as far as this data plane knows: less than that where others hold leases. */
function remainingOf(counter: QuotaCounter): number {
  const { limit, granted, debt, unused } = counter;
  return Math.max(0, limit - granted - debt + unused);
}
