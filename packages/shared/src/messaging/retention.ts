import { SHORT_QUOTA_WINDOW_MS } from './names.ts';

const HOUR_MS = 3_600_000;

/** How long each bucket of NATS keeps an entry after its last write. */
export const RETENTION_MS = {
  /** One hour longer than the expiry in the value. */
  idempotency: 25 * HOUR_MS,
  /** A quota entry is needed until the end of the window in which it was written. The longest window is a day. */
  quotas: 25 * HOUR_MS,
  /** Of short windows. Two minutes longer than the longest of them, for clocks of NATS servers that differ. */
  shortQuotas: SHORT_QUOTA_WINDOW_MS + 120_000,
} as const;
