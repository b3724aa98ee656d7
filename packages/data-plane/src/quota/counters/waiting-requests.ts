import type { Timer } from '@gateway/shared/clock';
import type { QuotaDecision, Requester } from '../quota-store.ts';

/** A request that waits for a decision. */
export interface Waiter {
  readonly requester: Requester | undefined;
  /** When it began to wait, by the monotonic clock. */
  readonly sinceMs: number;
  readonly answer: (decision: QuotaDecision) => void;
}

/** The requests that wait for a decision of one counter, in the order of their arrival. */
export class WaitingRequests {
  /** Decides them at a later time, if nothing else does. */
  wake: Timer | undefined = undefined;
  #waiters: Waiter[] = [];

  get count(): number {
    return this.#waiters.length;
  }

  get first(): Waiter | undefined {
    return this.#waiters[0];
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  takeFirst(): Waiter | undefined {
    return this.#waiters.shift();
  }

  /** Puts one back that was taken and must wait on. */
  putBack(waiter: Waiter): void {
    this.#waiters.unshift(waiter);
  }

  /** Removes those whose caller has left or whose deadline has passed, so that they spend nothing. */
  dropAbandoned(monotonicMs: number): void {
    this.#waiters = this.#waiters.filter(
      ({ requester }) => requester === undefined || !isAbandoned(requester, monotonicMs),
    );
  }
}

function isAbandoned({ clientGone, deadlineMs }: Requester, monotonicMs: number): boolean {
  return clientGone || monotonicMs >= deadlineMs;
}
