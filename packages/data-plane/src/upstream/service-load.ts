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
  /** When the last of what was under way ended; ms, monotonic. */
  quietSinceMs: number;
  /** Of a service that is not kept at hand: forgets it once it was quiet for long enough. */
  forget: Timer | undefined;
}

/** After this long with nothing under way a service is at its beginning again. */
const QUIET_MS = 1000;

/** Up to so many services quiet ones stay at hand: an idle gateway would else make a timer for each request. */
const MAX_KEPT = 1024;

/** Counts what is under way for each service; a service that was quiet is as one that was never asked. */
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
      load = { ...BEGINNING, liveRequests: 0, shared: false, quietSinceMs: 0, forget: undefined };
      this.#loads.set(serviceId, load);
    } else if (load.liveRequests === 0) this.#goOn(load);
    load.shared = load.liveRequests > 0;
    load.liveRequests += 1;
    load.earnedRetries = Math.min(MAX_EARNED_RETRIES, load.earnedRetries + RETRY_EARNED_SHARE);
    return load;
  }

  leave(serviceId: string, load: ServiceLoad): void {
    load.liveRequests -= 1;
    const entry = this.#loads.get(serviceId);
    if (load.liveRequests > 0 || entry === undefined) return;
    entry.quietSinceMs = this.#clock.monotonicMs();
    if (this.#loads.size > MAX_KEPT) {
      entry.forget = this.#clock.setTimer(QUIET_MS, () => void this.#loads.delete(serviceId));
    }
  }

  /** What was earned lasts over the short gaps that any load has in which nothing is under way. */
  #goOn(load: Entry): void {
    load.forget?.cancel();
    load.forget = undefined;
    if (this.#clock.monotonicMs() - load.quietSinceMs >= QUIET_MS) Object.assign(load, BEGINNING);
  }
}

/** What a service has where nothing is known of it. */
const BEGINNING = { liveRetries: 0, earnedRetries: RETRY_BUDGET_MINIMUM };

/** A retry after sending takes from what the service may have. */
export function spendRetry(load: ServiceLoad): void {
  load.earnedRetries = Math.max(0, load.earnedRetries - 1);
}
