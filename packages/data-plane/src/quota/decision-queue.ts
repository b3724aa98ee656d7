import type { Clock } from '@gateway/shared/clock';
import type { QuotaCounter } from './quota-counter.ts';
import type { LeaseTaker } from './lease-taker.ts';
import type { QuotaDecision, Requester } from './quota-store.ts';
import type { Waiter } from './waiting-requests.ts';

export interface DecisionQueueOptions {
  readonly clock: Clock;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
  /** How far that may be wrong. */
  readonly marginMs: () => number;
  /** After the end of each refill `answer` is called. */
  readonly leases: Pick<LeaseTaker, 'open' | 'slowForMs' | 'refill'>;
  /**
   * Decides a request; undefined if it must wait.
   *
   * @param mayWait whether it may wait for a ledger that does not answer just now
   */
  readonly decide: (counter: QuotaCounter, mayWait: boolean) => QuotaDecision | undefined;
}

/** A request that has waited for longer does not wait for a ledger that does not answer. */
const MAX_WAIT_MS = 3000;

/** Requests that wait for a lease, for the start of a window, or for a ledger that does not answer just now. */
export class DecisionQueue {
  readonly #options: DecisionQueueOptions;
  /** Counters with requests that wait for the ledger. */
  readonly #stalled = new Set<QuotaCounter>();

  constructor(options: DecisionQueueOptions) {
    this.#options = options;
  }

  add(counter: QuotaCounter, requester: Requester | undefined): Promise<QuotaDecision> {
    const sinceMs = this.#options.clock.monotonicMs();
    return new Promise((answer) => {
      counter.waiting.add({ requester, sinceMs, answer });
      if (counter.waiting.count === 1) this.#schedule(counter);
    });
  }

  /** Decides the waiting requests of a counter, as far as possible. */
  answer(counter: QuotaCounter): void {
    const { waiting } = counter;
    this.#stalled.delete(counter);
    waiting.dropAbandoned(this.#options.clock.monotonicMs());
    // A request that is decided does not count as waiting.
    for (let next = waiting.takeFirst(); next !== undefined; next = waiting.takeFirst()) {
      const decided = this.#options.decide(counter, this.#patienceMs(next) > 0);
      if (decided === undefined) {
        waiting.putBack(next);
        this.#schedule(counter);
        return;
      }
      next.answer(decided);
    }
  }

  /** The ledger answers again. */
  resume(): void {
    for (const counter of [...this.#stalled]) this.answer(counter);
  }

  /** Makes sure that waiting requests are decided: after a refill, or at a later time. */
  #schedule(counter: QuotaCounter): void {
    const { clock, leases, marginMs } = this.#options;
    const serverMs = this.#options.serverMs();
    const wakeAtMs = counter.wakeAtMs(serverMs, marginMs());
    // At the start of a window the lease is taken before it may be used.
    const early = serverMs < counter.usableFromMs;
    const isLeasing = leases.open;
    if ((early || wakeAtMs === undefined) && counter.unused === 0 && isLeasing) {
      leases.refill(counter);
    }
    if (wakeAtMs === undefined && counter.refilling) return;
    const { waiting } = counter;
    waiting.wake?.cancel();
    let laterMs = (wakeAtMs ?? 0) - serverMs;
    if (wakeAtMs === undefined && !isLeasing) {
      this.#stalled.add(counter);
      laterMs = this.#patienceMs(waiting.first);
    }
    const delayMs = Math.max(1, Math.ceil(laterMs));
    waiting.wake = clock.setTimer(delayMs, () => this.answer(counter));
  }

  #patienceMs(waiter: Waiter | undefined): number {
    const { clock, leases } = this.#options;
    if (waiter === undefined) return 0;
    return Math.min(leases.slowForMs, waiter.sinceMs + MAX_WAIT_MS - clock.monotonicMs());
  }
}
