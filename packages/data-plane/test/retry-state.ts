import type { RetryPolicy } from '../src/routing-table/routing-table.ts';
import type { RetryState } from '../src/upstream/decide-retry.ts';

/** The policy of a new route. */
export const RETRY_POLICY: RetryPolicy = {
  onStatuses: new Set([502, 503, 504]),
  perAttemptTimeoutMs: undefined,
  backoffMs: 25,
  unsafeMethods: 'never',
};

/** A GET that was sent and reset, for which a retry is possible in every respect. */
export const RETRY_STATE: RetryState = {
  failure: { kind: 'reset' },
  sent: true,
  method: 'GET',
  hasIdempotencyKey: false,
  bodyKept: true,
  hasAlternative: false,
  retriesMade: 0,
  resends: 0,
  retryCount: 2,
  remainingMs: 10_000,
  liveRetries: 0,
  recentRequests: 1,
  earnedRetries: 3,
  alone: false,
  random: 0.5,
};
