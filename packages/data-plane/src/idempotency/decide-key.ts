import type { EntryHead } from './entry.ts';

/** How long an answer, or a request whose end is not known, is kept. */
export const KEPT_MS = 24 * 3_600_000;
/**
 * How far the clocks of two data planes may be apart before one takes the other's lease for over
 * while it is not. They are set by the NATS server's where that is known.
 */
export const CLOCK_SKEW_MS = 2000;

export interface KeyUse {
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly onUnknown: 'refuse' | 'forward';
  /** Whether the store was there for so long that every live owner has renewed its lease. */
  readonly steady: boolean;
}

export type KeyDecision =
  /** `unknown`: a request ran before, nobody knows to what end, and the route says to go on. */
  | { readonly kind: 'claim'; readonly after: 'nothing' | 'expiry' | 'unknown' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'replay' }
  | { readonly kind: 'refuse'; readonly why: 'conflict' | 'outcome_unknown' };

/** What becomes of a request whose key has this entry. Pure; of several at once the store lets one claim. */
export function decideKey(head: EntryHead | undefined, use: KeyUse): KeyDecision {
  if (head === undefined) return { kind: 'claim', after: 'nothing' };
  const lapsed = head.state === 'claimed' && use.nowMs > head.lease_until_ms + CLOCK_SKEW_MS;
  const leased = head.state === 'claimed' && !(lapsed && use.steady);
  // A request may run for longer than a key is kept; as long as its lease lives it is not over.
  if (!leased && use.nowMs >= head.expires_at_ms) return { kind: 'claim', after: 'expiry' };
  if (head.fingerprint !== use.fingerprint) return { kind: 'refuse', why: 'conflict' };
  if (leased) return { kind: 'wait' };
  if (head.state === 'done') return { kind: 'replay' };
  return use.onUnknown === 'forward'
    ? { kind: 'claim', after: 'unknown' }
    : { kind: 'refuse', why: 'outcome_unknown' };
}
