import type { CompiledRoute } from '../../routing-table/routing-table.ts';
import { faultOf, type AttemptEnd } from '../attempt-end.ts';

/**
 * What an attempt says about its upstream. `unreachable`: there was no connection, so a check would fail too. `bad`: the
 * upstream was reached and failed. `timed_out`: the same, but it may also hang. `maybe_hung`: it had too little time to
 * answer, so checks must show whether it hangs. `nothing`: the attempt says nothing about it.
 */
export type AttemptVerdict = CountedVerdict | 'maybe_hung';

/** What counts to the ejection of an upstream, or against it. */
export type CountedVerdict = 'good' | 'bad' | 'timed_out' | 'unreachable' | 'nothing';

/** Statuses with which a proxy or load balancer in front of the service reports that it cannot reach it. */
const GATEWAY_FAILURES = new Set([502, 503, 504]);

/** A timeout after less than this part of the time that the route gives an attempt does not count. */
const FAIR_PART = 1 / 2;

/**
 * Whether a timeout is the fault of the upstream. A route whose timeout is too short for its upstream must not take it
 * from the other routes.
 *
 * @param upstreamMs how long the upstream alone was waited for. A slow request body, an earlier wait or a wait for a
 * connection may have used most of the time to the deadline.
 * @param shortCheckMs how long a check that is to confirm a hang waits for the upstream
 */
export function hadFairTime(
  upstreamMs: number,
  route: CompiledRoute,
  shortCheckMs: number,
): boolean {
  const usualMs = Math.min(route.settings.timeout_ms, route.retry.perAttemptTimeoutMs ?? Infinity);
  return upstreamMs >= Math.max(usualMs * FAIR_PART, shortCheckMs);
}

/**
 * What an attempt says about the health of its upstream. Failures are those of Envoy's outlier detection: no connection,
 * a reset, an invalid response, a timeout, and the statuses 502, 503 and 504. Any other response is good, also a 500,
 * because the service itself sent it. An attempt that failed by the fault of the caller or of this data plane says
 * nothing.
 *
 * @param timeoutCounts whether a timeout is the fault of the upstream
 */
export function attemptVerdict(
  { response, error }: AttemptEnd,
  timeoutCounts: boolean,
): AttemptVerdict {
  if (response !== undefined) return GATEWAY_FAILURES.has(response.status) ? 'bad' : 'good';
  if (faultOf(error) !== 'upstream') return 'nothing';
  if (error.name !== 'attempt_timeout') return error.sent ? 'bad' : 'unreachable';
  if (!timeoutCounts) return 'maybe_hung';
  return error.sent ? 'timed_out' : 'unreachable';
}
