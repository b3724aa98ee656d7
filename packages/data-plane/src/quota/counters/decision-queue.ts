import type { Clock } from '@gateway/shared/clock';
import type { QuotaCounter } from './quota-counter.ts';
import type { LeaseTaker } from './lease-taker.ts';
import type { QuotaDecision, Requester } from '../quota-store.ts';
import type { Waiter } from './waiting-requests.ts';

export interface DecisionQueueOptions {
  readonly clock: Clock;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
  /** How far that may be wrong. */
  readonly marginMs: () => number;
  /** After the end of each refill `answer` is called. */
  readonly leases: Pick<LeaseTaker, 'open' | 'slowForMs' | 'refill'>;
  /** Decides the request that has waited longest; undefined if it must wait on. */
  readonly decide: (counter: QuotaCounter, first: Waiter) => QuotaDecision | undefined;
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

  /** Whether a request may wait for a ledger that does not answer just now. A new one has not waited yet. */
  mayWait(waiter: Waiter | undefined): boolean {
    const sinceMs = waiter?.sinceMs ?? this.#options.clock.monotonicMs();
    return this.#patienceMs(sinceMs) > 0;
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
      const decided = this.#options.decide(counter, next);
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
    if ((early || wakeAtMs === undefined) && counter.leased === 0 && isLeasing) {
      leases.refill(counter);
    }
    if (wakeAtMs === undefined && counter.refilling) return;
    const { waiting } = counter;
    waiting.wake?.cancel();
    let laterMs = (wakeAtMs ?? 0) - serverMs;
    if (wakeAtMs === undefined && !isLeasing) {
      this.#stalled.add(counter);
      laterMs = this.#patienceMs(waiting.first?.sinceMs ?? -Infinity);
    }
    const delayMs = Math.max(1, Math.ceil(laterMs));
    waiting.wake = clock.setTimer(delayMs, () => this.answer(counter));
  }

  #patienceMs(sinceMs: number): number {
    const { clock, leases } = this.#options;
    return Math.min(leases.slowForMs, sinceMs + MAX_WAIT_MS - clock.monotonicMs());
  }
}
