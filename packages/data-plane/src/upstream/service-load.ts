import type { Clock, Timer } from '@gateway/shared/clock';
import { MAX_EARNED_RETRIES, RETRY_BUDGET_MINIMUM, RETRY_EARNED_SHARE } from './retry.ts';

/** What is under way for one service: the base of its retry budget. */
export interface ServiceLoad {
  liveRequests: number;
  liveRetries: number;
  /** Retries after sending that the service may still have; never below 0. */
  earnedRetries: number;
  /** Whether more than one request was under way since there was none. */
  shared: boolean;
}

interface Entry extends ServiceLoad {
  /** Runs where nothing is under way and the budget is not what it began with. */
  quiet: Timer | undefined;
}

/** After this long with nothing under way a service is at its beginning again. */
const QUIET_MS = 1000;

/** Up to so many services a quiet one stays at hand: an idle gateway would else make one for each request. */
const MAX_KEPT = 1024;

/** Counts what is under way for each service; a service that is quiet is as one that was never asked. */
export class ServiceLoads {
  readonly #clock: Clock;
  readonly #loads = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request for the service begins; `leave` must follow. */
  enter(serviceId: string): ServiceLoad {
    let load = this.#loads.get(serviceId);
    if (load === undefined) {
      const earnedRetries = RETRY_BUDGET_MINIMUM;
      load = { liveRequests: 0, liveRetries: 0, earnedRetries, shared: false, quiet: undefined };
      this.#loads.set(serviceId, load);
    } else if (load.quiet !== undefined) {
      load.quiet.cancel();
      load.quiet = undefined;
    }
    load.shared = load.liveRequests > 0;
    load.liveRequests += 1;
    load.earnedRetries = Math.min(MAX_EARNED_RETRIES, load.earnedRetries + RETRY_EARNED_SHARE);
    return load;
  }

  leave(serviceId: string, load: ServiceLoad): void {
    load.liveRequests -= 1;
    const entry = this.#loads.get(serviceId);
    if (load.liveRequests > 0 || entry === undefined) return;
    if (entry.earnedRetries < RETRY_BUDGET_MINIMUM) {
      entry.quiet = this.#clock.setTimer(QUIET_MS, () => void this.#loads.delete(serviceId));
    } else if (this.#loads.size > MAX_KEPT) {
      this.#loads.delete(serviceId);
    } else {
      entry.earnedRetries = RETRY_BUDGET_MINIMUM;
      entry.liveRetries = 0;
    }
  }
}

/** A retry after sending takes from what the service may have. */
export function spendRetry(load: ServiceLoad): void {
  load.earnedRetries = Math.max(0, load.earnedRetries - 1);
}
