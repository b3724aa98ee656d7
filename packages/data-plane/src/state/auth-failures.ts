import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';

const WINDOW_MS = 60_000;

/**
 * How many failed authentications an address may make in a minute: the brute-force limit, and what
 * the rate-limit headers count as long as no route is known. A valid token is never held up by it.
 * Bounded to `maxAddresses`.
 */
export class AuthFailures {
  readonly #counters: FixedWindowCounters;
  readonly #limit: number;

  constructor(limit: number, maxAddresses: number) {
    this.#limit = limit;
    this.#counters = new FixedWindowCounters(maxAddresses);
  }

  get dropped(): number {
    return this.#counters.dropped;
  }

  /** Counts a failure; not granted where the address has made too many. */
  count(address: string, nowMs: number): FixedWindow {
    return this.#counters.take(address, this.#limit, WINDOW_MS, nowMs);
  }

  /** What the address has left. */
  left(address: string, nowMs: number): FixedWindow {
    return this.#counters.peek(address, this.#limit, WINDOW_MS, nowMs);
  }
}
