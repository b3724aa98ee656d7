const DAY_MS = 24 * 60 * 60 * 1000;

/** A token that ends within this time is expiring. */
export const EXPIRING_DAYS = 14;

/** A token that nobody has used for this long is unused. */
export const UNUSED_DAYS = 90;

/** What a token can be, beside revoked: one is deleted from lists then. */
export const TOKEN_STATES = ['active', 'expiring', 'unused', 'expired'] as const;

export type TokenState = (typeof TOKEN_STATES)[number];

interface Dated {
  /** RFC 3339; null: never. */
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly created_at: string;
}

/** What a token is. One that is expiring and unused is expiring, because that needs somebody sooner. */
export function tokenState(token: Dated, nowMs: number): TokenState {
  const { expires_at: end, last_used_at: use, created_at: begin } = token;
  const endMs = end === null ? Infinity : Date.parse(end);
  if (endMs <= nowMs) return 'expired';
  if (endMs <= nowMs + EXPIRING_DAYS * DAY_MS) return 'expiring';
  return Date.parse(use ?? begin) <= nowMs - UNUSED_DAYS * DAY_MS ? 'unused' : 'active';
}

/** The times that `tokenState` compares with, ms since the Unix epoch. */
export function tokenStateLimits(nowMs: number): {
  readonly expiringUntilMs: number;
  readonly unusedSinceMs: number;
} {
  return {
    expiringUntilMs: nowMs + EXPIRING_DAYS * DAY_MS,
    unusedSinceMs: nowMs - UNUSED_DAYS * DAY_MS,
  };
}
