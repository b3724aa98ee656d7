import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { addressGroup } from '@gateway/shared/net/client-address';

const WINDOW_MS = 60_000;
const SECOND_MS = 1000;
/**
 * How many JWTs that were not verified before are verified in a second for an address past its allowance. Each costs CPU
 * time, whether it is valid or not. Callers who share the address still get new tokens verified.
 */
export const SIGNATURE_CHECKS_PER_SECOND = 10;

/**
 * Limits the failed authentications per minute and address (IPv6: per /64 network) against brute force.
 * The rate-limit headers show this limit until a route is known. A token that can be verified without a signature is
 * never refused because of it. At most `maxAddresses` addresses are counted.
 */
export class AuthFailures {
  readonly #counters: FixedWindowCounters;
  readonly #signatureChecks: FixedWindowCounters;
  readonly #limit: number;

  constructor(limit: number, maxAddresses: number) {
    this.#limit = limit;
    this.#counters = new FixedWindowCounters(maxAddresses);
    this.#signatureChecks = new FixedWindowCounters(maxAddresses);
  }

  get dropped(): number {
    return this.#counters.dropped + this.#signatureChecks.dropped;
  }

  /** Counts a failure; `granted` is false if the address has made too many. */
  count(address: string, nowMs: number): FixedWindow {
    return this.#counters.take(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }

  /** The failures that the address has left. */
  left(address: string, nowMs: number): FixedWindow {
    return this.#counters.peek(addressGroup(address), this.#limit, WINDOW_MS, nowMs);
  }

  /** Whether a signature may be checked for the address now. Past its allowance the check is counted. */
  takeSignatureCheck(address: string, nowMs: number): boolean {
    if (this.left(address, nowMs).granted) return true;
    const group = addressGroup(address);
    return this.#signatureChecks.take(group, SIGNATURE_CHECKS_PER_SECOND, SECOND_MS, nowMs).granted;
  }

  /** What `takeSignatureCheck` would return, without counting. */
  hasSignatureCheck(address: string, nowMs: number): boolean {
    if (this.left(address, nowMs).granted) return true;
    const group = addressGroup(address);
    return this.#signatureChecks.peek(group, SIGNATURE_CHECKS_PER_SECOND, SECOND_MS, nowMs).granted;
  }
}
