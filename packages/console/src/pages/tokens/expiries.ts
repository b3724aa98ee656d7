const DAY_MS = 24 * 60 * 60 * 1000;

/** The usual lives of tokens. */
export const EXPIRIES = [
  { value: '30d', label: '30 days', days: 30 },
  { value: '90d', label: '90 days', days: 90 },
  { value: '1y', label: '1 year', days: 365 },
] as const;

/** What is chosen first: a year, unless the token of the session ends before. */
export function usualExpiry(ownEnd: string | null, nowMs: number): string {
  return ownEnd !== null && Date.parse(ownEnd) < nowMs + 365 * DAY_MS ? 'own' : '1y';
}

/** The end of a token with this choice; undefined: with the token of the call; null: never. */
export function expiryAfter(choice: string, nowMs: number): string | null | undefined {
  if (choice === 'own') return undefined;
  const days = EXPIRIES.find(({ value }) => value === choice)?.days;
  return days === undefined ? null : new Date(nowMs + days * DAY_MS).toISOString();
}
