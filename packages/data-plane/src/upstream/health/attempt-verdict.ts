import type { CompiledRoute } from '../../routing-table/routing-table.ts';
import type { AttemptError } from '../port.ts';
import type { AttemptVerdict } from './upstream-state.ts';

/** What a verdict needs to know of an outcome. */
export type JudgedOutcome =
  | { readonly response: { readonly status: number }; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Statuses by which something between the gateway and the service says that it cannot be had. */
const GATEWAY_FAILURES = new Set([502, 503, 504]);

/** With less than this part of the time that its route gives an attempt, a time-out says nothing. */
const FAIR_PART = 1 / 2;

/**
 * Whether an attempt has so much time that a time-out would be the upstream's doing. A caller who is slow
 * with its body, or a wait before it, uses up the deadline too.
 */
export function hasFairTime(timeoutMs: number, route: CompiledRoute): boolean {
  const usualMs = Math.min(route.settings.timeout_ms, route.retry.perAttemptTimeoutMs ?? Infinity);
  return timeoutMs >= usualMs * FAIR_PART;
}

/**
 * What an attempt says of its upstream's health. Failures are those of Envoy's outlier detection: no
 * connection, a reset, an answer that is no HTTP, a time-out, and 502, 503 and 504; any other answer
 * is good, 500 included, as the service itself gave it. What the caller's side ended says nothing.
 *
 * @param timed whether a time-out is the upstream's: not where the caller has yet to send some of the body,
 * nor where the attempt had too little time
 */
export function attemptVerdict(outcome: JudgedOutcome, timed: boolean): AttemptVerdict {
  const { response, error } = outcome;
  if (response !== undefined) return GATEWAY_FAILURES.has(response.status) ? 'bad' : 'good';
  switch (error.name) {
    case 'cancelled':
    case 'request_body':
    case 'unsendable':
      return 'nothing';
    case 'attempt_timeout':
      if (!timed) return 'nothing';
      return error.sent ? 'bad' : 'unreachable';
    default:
      return error.sent ? 'bad' : 'unreachable';
  }
}
