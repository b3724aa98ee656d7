import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { addressGroup } from '@gateway/shared/net/client-address';

const WINDOW_MS = 60_000;

/**
 * How many failed authentications an address, or of IPv6 its network of 64 bits, may make in a minute:
 * the brute-force limit, and what the rate-limit headers count as long as no route is known. A valid
 * token is never held up by it. Bounded to `maxAddresses`.
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
    return this.#counters.take(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }

  /** What the address has left. */
  left(address: string, nowMs: number): FixedWindow {
    return this.#counters.peek(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }
}
