import type { CompiledRoute } from '../../routing-table/routing-table.ts';
import type { AttemptError } from '../upstream-client.ts';

/**
 * What an attempt says about its upstream. `unreachable`: there was no connection, so a check would fail too. `bad`: the
 * upstream was reached and failed. `timed_out`: the same, but it may also hang. `nothing`: the attempt says nothing about
 * it.
 */
export type AttemptVerdict = 'good' | 'bad' | 'timed_out' | 'unreachable' | 'nothing';

/** The part of an outcome that the verdict needs. */
export type JudgedOutcome =
  | { readonly response: { readonly status: number }; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Statuses with which a proxy or load balancer in front of the service reports that it cannot reach it. */
const GATEWAY_FAILURES = new Set([502, 503, 504]);

/** A timeout after less than this part of the time that the route gives an attempt says nothing. */
const FAIR_PART = 1 / 2;

/**
 * Whether an attempt has enough time that a timeout is the fault of the upstream. A slow request body or an earlier wait
 * may have used most of the time to the deadline.
 */
export function hasFairTime(timeoutMs: number, route: CompiledRoute): boolean {
  const usualMs = Math.min(route.settings.timeout_ms, route.retry.perAttemptTimeoutMs ?? Infinity);
  return timeoutMs >= usualMs * FAIR_PART;
}

/**
 * What an attempt says about the health of its upstream. Failures are those of Envoy's outlier detection: no connection,
 * a reset, an invalid response, a timeout, and the statuses 502, 503 and 504. Any other response is good, also a 500,
 * because the service itself sent it. An attempt that the caller's side ended says nothing.
 *
 * @param timeoutCounts whether a timeout is the fault of the upstream: false while the request body is being sent, or if
 * the attempt had too little time
 */
export function attemptVerdict(outcome: JudgedOutcome, timeoutCounts: boolean): AttemptVerdict {
  const { response, error } = outcome;
  if (response !== undefined) return GATEWAY_FAILURES.has(response.status) ? 'bad' : 'good';
  switch (error.name) {
    case 'max_pending':
    case 'key_lease_ended':
    case 'cancelled':
    case 'request_body':
    case 'unsendable':
      return 'nothing';
    case 'attempt_timeout':
      if (!timeoutCounts) return 'nothing';
      return error.sent ? 'timed_out' : 'unreachable';
    default:
      return error.sent ? 'bad' : 'unreachable';
  }
}
