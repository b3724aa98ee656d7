import type { AttemptError } from '../port.ts';
import type { AttemptVerdict } from './upstream-state.ts';

/** What a verdict needs to know of an outcome. */
export type JudgedOutcome =
  | { readonly response: { readonly status: number }; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Statuses by which something between the gateway and the service says that it cannot be had. */
const GATEWAY_FAILURES = new Set([502, 503, 504]);

/**
 * What an attempt says of its upstream's health. Failures are those of Envoy's outlier detection: no
 * connection, a reset, an answer that is no HTTP, a time-out, and 502, 503 and 504; any other answer
 * is good, 500 included, as the service itself gave it. What the caller's side ended says nothing.
 *
 * @param callerSends whether the caller has yet to send some of the body: then it may be the one that
 * was slow
 */
export function attemptVerdict(outcome: JudgedOutcome, callerSends: boolean): AttemptVerdict {
  const { response, error } = outcome;
  if (response !== undefined) return GATEWAY_FAILURES.has(response.status) ? 'bad' : 'good';
  switch (error.name) {
    case 'cancelled':
    case 'request_body':
    case 'unsendable':
      return 'nothing';
    case 'attempt_timeout':
      if (callerSends) return 'nothing';
      return error.sent ? 'bad' : 'unreachable';
    default:
      return error.sent ? 'bad' : 'unreachable';
  }
}
