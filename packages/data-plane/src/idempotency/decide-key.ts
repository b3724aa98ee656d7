import type { EntryHead } from './store/entry.ts';

/** How long a response or an unknown outcome is kept. */
export const KEPT_MS = 24 * 3_600_000;
/**
 * How far the clocks of two data planes may differ before one could regard a valid lease of the other as ended. They
 * follow the clock of the NATS server if that is known.
 */
export const CLOCK_SKEW_MS = 2000;

/** The request that uses a key. */
export interface KeyUse {
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly onUnknown: 'refuse' | 'forward';
  /** Whether the store has been available long enough that every live owner has renewed its lease. */
  readonly stable: boolean;
  /** Whether it has waited for another request with its key. */
  readonly waited: boolean;
}

/**
 * Why a key may be claimed. `repeatable`: the earlier run certainly had no effect. `unknown`: the outcome of an earlier
 * request is unknown, and the route says to run again.
 */
export type ClaimedAfter = 'nothing' | 'expiry' | 'repeatable' | 'unknown';

export type KeyDecision =
  | { readonly kind: 'claim'; readonly after: ClaimedAfter }
  | { readonly kind: 'wait' }
  | { readonly kind: 'replay' }
  | { readonly kind: 'refuse'; readonly why: 'conflict' | 'outcome_unknown' };

/** Decides what happens to a request whose key has this entry. If several may claim, the store accepts one of them. */
export function decideKey(head: EntryHead | undefined, use: KeyUse): KeyDecision {
  if (head === undefined) return { kind: 'claim', after: 'nothing' };
  const expired = head.state === 'claimed' && use.nowMs > head.lease_until_ms + CLOCK_SKEW_MS;
  const leased = head.state === 'claimed' && !(expired && use.stable);
  // A request may run longer than a key is kept; while its lease is valid it has not ended.
  if (!leased && use.nowMs >= head.expires_at_ms) return { kind: 'claim', after: 'expiry' };
  if (head.fingerprint !== use.fingerprint) return { kind: 'refuse', why: 'conflict' };
  if (leased) return { kind: 'wait' };
  if (head.state === 'done') {
    // Whoever waited gets the response that it waited for. If all duplicates ran, one after the other, an upstream that
    // asks for fewer requests would get one from each.
    const isAnswered = head.repeatable_status === undefined || (use.waited && head.body_kept);
    return isAnswered ? { kind: 'replay' } : { kind: 'claim', after: 'repeatable' };
  }
  return use.onUnknown === 'forward'
    ? { kind: 'claim', after: 'unknown' }
    : { kind: 'refuse', why: 'outcome_unknown' };
}
