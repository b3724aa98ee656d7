import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { addressGroup } from '@gateway/shared/net/client-address';

const WINDOW_MS = 60_000;

/**
 * Limits the failed authentications per minute and address (IPv6: per /64 network) against brute force.
 * The rate-limit headers show this limit until a route is known. A valid token is never refused because
 * of it. At most `maxAddresses` addresses are counted.
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

  /** Counts a failure; `granted` is false if the address has made too many. */
  count(address: string, nowMs: number): FixedWindow {
    return this.#counters.take(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }

  /** The failures that the address has left. */
  left(address: string, nowMs: number): FixedWindow {
    return this.#counters.peek(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }
}
