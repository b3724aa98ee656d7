import { FixedWindowCounters, type FixedWindow } from '@gateway/shared/fixed-window';
import { addressGroup } from '@gateway/shared/net/client-address';

const WINDOW_MS = 60_000;
const SECOND_MS = 1000;
/**
 * How many JWTs that were not verified before are verified in a second for an address past its allowance. Each costs CPU
 * time, whether it is valid or not. Callers who share the address with an attacker compete with it for them.
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
  /** The checks within the allowance that are under way, by address. Each may become a failure. */
  readonly #checksUnderWay = new Map<string, number>();
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

  /**
   * Begins the check of a signature for the address, if it may have one now. Past its allowance the checks of a second are
   * counted.
   *
   * @returns ends the check; undefined: it may have none
   */
  beginSignatureCheck(address: string, nowMs: number): (() => void) | undefined {
    const group = addressGroup(address);
    if (this.#isWithinAllowance(group, nowMs)) {
      this.#checksUnderWay.set(group, this.#underWay(group) + 1);
      return () => {
        const left = this.#underWay(group) - 1;
        if (left === 0) this.#checksUnderWay.delete(group);
        else this.#checksUnderWay.set(group, left);
      };
    }
    const counted = this.#signatureChecks.take(
      group,
      SIGNATURE_CHECKS_PER_SECOND,
      SECOND_MS,
      nowMs,
    );
    return counted.granted ? () => undefined : undefined;
  }

  /** Whether the address may have a check now, without beginning one. */
  hasSignatureCheck(address: string, nowMs: number): boolean {
    const group = addressGroup(address);
    if (this.#isWithinAllowance(group, nowMs)) return true;
    return this.#signatureChecks.peek(group, SIGNATURE_CHECKS_PER_SECOND, SECOND_MS, nowMs).granted;
  }

  #isWithinAllowance(group: string, nowMs: number): boolean {
    const { remaining } = this.#counters.peek(group, this.#limit, WINDOW_MS, nowMs);
    return remaining > this.#underWay(group);
  }

  #underWay(group: string): number {
    return this.#checksUnderWay.get(group) ?? 0;
  }
}
