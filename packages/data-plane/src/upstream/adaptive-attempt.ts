import type { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import type { AttemptEnd } from './attempt-end.ts';

const TOO_MANY_REQUESTS = 429;

/**
 * Ends the wait of an attempt for which `limit.begin` returned true.
 *
 * @param waitedMs without the wait for a connection that others used: that queue is not the upstream's
 */
export function endWait(
  limit: AdaptiveLimit,
  outcome: AttemptEnd,
  waitedMs: number,
  nowMs: number,
): void {
  const { response, error } = outcome;
  if (response !== undefined) limit.end(didWork(response.status) ? waitedMs : undefined, nowMs);
  else if (error.name === 'cancelled') limit.abandon(waitedMs, nowMs);
  // Any other failure is often much faster than a response.
  else limit.end(error.name === 'attempt_timeout' ? waitedMs : undefined, nowMs);
}

/** Whether the upstream did the work. If it refuses or fails, it often responds much faster. */
function didWork(status: number): boolean {
  return status < 500 && status !== TOO_MANY_REQUESTS;
}
