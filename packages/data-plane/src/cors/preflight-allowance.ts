import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { addressGroup } from '@gateway/shared/net/client-address';

const WINDOW_MS = 60_000;

/**
 * Limits the preflights that are answered per minute and address (IPv6: per /64 network), because anybody can send them
 * and they use no quota. At most `maxAddresses` addresses are counted.
 */
export class PreflightAllowance {
  readonly #counters: FixedWindowCounters;
  readonly #limit: number;

  constructor(limit: number, maxAddresses: number) {
    this.#limit = limit;
    this.#counters = new FixedWindowCounters(maxAddresses);
  }

  get dropped(): number {
    return this.#counters.dropped;
  }

  /** Counts a preflight; `granted` is false if the address has sent too many. */
  count(address: string, nowMs: number): FixedWindow {
    return this.#counters.take(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }

  /** What the address has left. */
  left(address: string, nowMs: number): FixedWindow {
    return this.#counters.peek(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }
}
