import type { Clock, Timer } from '@gateway/shared/clock';
import { MAX_EARNED_RETRIES, RETRY_BUDGET_MINIMUM, RETRY_EARNED_SHARE } from './decide-retry.ts';

/** The live requests and retries of one service, from which its retry budget follows. */
export interface RetryBudget {
  liveRequests: number;
  /**
   * The recent maximum of the live requests: it falls by a 64th with each new request. The share is taken of this number,
   * because the responses of many requests are often read in one turn of the event loop: when its last failures are
   * decided, hardly any other request is live.
   */
  recentRequests: number;
  liveRetries: number;
  /** Retries after sending that the service has left; never below 0. */
  earnedRetries: number;
  /** Whether there was more than one live request at any time since the service was last idle. */
  shared: boolean;
  /** Called when a request that has entered ends. Bound, so that a request can register it without an allocation. */
  readonly leave: () => void;
}

interface Entry extends RetryBudget {
  /** When the last live request ended; ms, monotonic. */
  idleSinceMs: number;
  /** Removes the entry, if there are too many to keep idle ones. */
  removal: Timer | undefined;
}

/** After this long without a live request, a budget starts over. */
const IDLE_MS = 1000;

/** What is left of the recent number of live requests after each further request. */
const RECENT_KEPT = 63 / 64;

/** Idle services are kept up to this number; otherwise an idle gateway would set a timer for each request. */
const MAX_KEPT = 1024;

/** The retry budgets of all services, by service id. */
export class RetryBudgets {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request of the service as live, until the `leave` of its budget is called. */
  enter(serviceId: string): RetryBudget {
    let entry = this.#entries.get(serviceId);
    if (entry === undefined) {
      entry = this.#create(serviceId);
      this.#entries.set(serviceId, entry);
    } else if (entry.liveRequests === 0) this.#resume(entry);
    entry.shared = entry.liveRequests > 0;
    entry.liveRequests += 1;
    entry.recentRequests = Math.max(entry.liveRequests, entry.recentRequests * RECENT_KEPT);
    entry.earnedRetries = Math.min(MAX_EARNED_RETRIES, entry.earnedRetries + RETRY_EARNED_SHARE);
    return entry;
  }

  #create(serviceId: string): Entry {
    const entry: Entry = {
      ...INITIAL,
      liveRequests: 0,
      shared: false,
      idleSinceMs: 0,
      removal: undefined,
      leave: () => this.#leave(serviceId, entry),
    };
    return entry;
  }

  #leave(serviceId: string, entry: Entry): void {
    entry.liveRequests -= 1;
    if (entry.liveRequests > 0) return;
    entry.idleSinceMs = this.#clock.monotonicMs();
    if (this.#entries.size > MAX_KEPT) {
      entry.removal = this.#clock.setTimer(IDLE_MS, () => void this.#entries.delete(serviceId));
    }
  }

  /** Any load has short gaps without a live request; the budget survives them. */
  #resume(entry: Entry): void {
    entry.removal?.cancel();
    entry.removal = undefined;
    if (this.#clock.monotonicMs() - entry.idleSinceMs >= IDLE_MS) Object.assign(entry, INITIAL);
  }
}

/** The budget of a service that was idle or is new. */
const INITIAL = { recentRequests: 0, liveRetries: 0, earnedRetries: RETRY_BUDGET_MINIMUM };

/** Takes one retry after sending from the budget. */
export function spendRetry(budget: RetryBudget): void {
  budget.earnedRetries = Math.max(0, budget.earnedRetries - 1);
}
