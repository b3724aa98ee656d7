import type { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';

/* How an attempt ends, and what that says: whose fault it is, and what health and the adaptive limit learn from it. */

/** Whose fault it is that an attempt has no usable response. Only a fault of the upstream counts against its health. */
export type Fault = 'upstream' | 'gateway' | 'caller';

/**
 * Why an attempt failed, as in its record, and whose fault that is. docs/use/policies/upstream-health.md lists the same
 * names.
 */
export const ATTEMPT_ERRORS = {
  connect_refused: 'upstream',
  connect_timeout: 'upstream',
  connect_failed: 'upstream',
  name_not_found: 'upstream',
  tls_failed: 'upstream',
  reset: 'upstream',
  invalid_response: 'upstream',
  attempt_timeout: 'upstream',
  // All connections that the service may have were in use: no room to wait, or none became free in time.
  max_pending: 'gateway',
  max_connections: 'gateway',
  // The name servers of this data plane did not answer. That says nothing about the upstream.
  dns_failed: 'gateway',
  address_refused: 'gateway',
  // The operating system gave this data plane no file descriptor, port or memory.
  system_resources: 'gateway',
  // This data plane was paused, and nothing was sent before the time was up.
  gateway_paused: 'gateway',
  response_head_too_large: 'gateway',
  internal_error: 'gateway',
  unsendable: 'gateway',
  key_lease_ended: 'gateway',
  request_body: 'caller',
  cancelled: 'caller',
} as const satisfies Readonly<Record<string, Fault>>;

export type AttemptErrorName = keyof typeof ATTEMPT_ERRORS;

/** Why an attempt failed. */
export interface AttemptError {
  readonly name: AttemptErrorName;
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
}

/**
 * How an attempt ended: with a response, or without one. It was never sent (`error.sent` is false), or sent and not
 * answered, or answered badly: with invalid HTTP, or with the status of a failure.
 */
export type AttemptEnd =
  | { readonly response: Pick<UpstreamResponse, 'status' | 'fields'>; readonly error?: undefined }
  | { readonly response?: undefined; readonly error: AttemptError };

/** Whether the error of an attempt in a record is the fault of its upstream. */
export function isFaultOfUpstream(name: string): boolean {
  return (ATTEMPT_ERRORS as Readonly<Record<string, Fault>>)[name] === 'upstream';
}

/** Whose fault the error is. */
export function faultOf({ name }: Pick<AttemptError, 'name'>): Fault {
  return ATTEMPT_ERRORS[name];
}

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
 * @param upstreamMs how long the upstream was waited for. An earlier wait or a wait for a connection may have used
 * most of the time to the deadline.
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

/**
 * What an attempt of a request says about the health of its upstream.
 *
 * @param upstreamMs for how long the upstream alone was waited for
 * @param shortCheckMs how long a check that is to confirm a hang waits for the upstream
 */
export function verdictOf(
  outcome: AttemptEnd,
  upstreamMs: number,
  route: CompiledRoute,
  shortCheckMs: () => number,
): AttemptVerdict {
  const isTimeout = outcome.error?.name === 'attempt_timeout';
  const isFair = isTimeout && hadFairTime(upstreamMs, route, shortCheckMs());
  return attemptVerdict(outcome, isFair);
}

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
