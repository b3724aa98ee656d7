import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { grpcFailureName, isGrpcServerError } from '@gateway/shared/http/grpc-status';
import type { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import type { UpstreamResponse } from '../request/upstream-response.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';

/* How an attempt ends, and what that says: whose fault it is, and what health and the adaptive limit learn from it. */

/** Whose fault it is that an attempt has no usable response. Only a fault of the upstream counts against its health. */
export type Fault = 'upstream' | 'gateway' | 'caller' | 'nobody';

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
  http2_not_chosen: 'upstream',
  reset: 'upstream',
  refused_stream: 'upstream',
  invalid_response: 'upstream',
  speaks_http1: 'upstream',
  speaks_http2: 'upstream',
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
  // Nothing happened in either direction of a stream whose caller had not ended its request.
  stream_idle: 'caller',
  cancelled: 'caller',
  // The upstream ended its connection, as at a restart, before it looked at the request.
  goaway: 'nobody',
  // The service asks for WebSockets that the upstream does not take. Its other requests are served.
  connect_not_offered: 'nobody',
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
  | {
      readonly response: Pick<UpstreamResponse, 'status' | 'fields'>;
      readonly error?: undefined;
      /** That of a gRPC call whose response is a head alone (trailers-only). */
      readonly grpcStatus?: number | undefined;
      /** Whether the end of the response is still to say how a gRPC call went. */
      readonly isOpen?: boolean;
    }
  | {
      readonly response?: undefined;
      readonly error: AttemptError;
      readonly grpcStatus?: undefined;
      readonly isOpen?: undefined;
    };

/** What an attempt has failed with, for operators: the name of its error, or its status. */
export function attemptDetail({ response, error, grpcStatus }: AttemptEnd): string {
  if (error !== undefined) return error.name;
  return grpcStatus !== undefined && response.status < 400
    ? grpcFailureName(grpcStatus)
    : `status_${response.status}`;
}

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
  { response, error, grpcStatus }: AttemptEnd,
  timeoutCounts: boolean,
): AttemptVerdict {
  if (response !== undefined) {
    if (GATEWAY_FAILURES.has(response.status)) return 'bad';
    return grpcStatus === undefined ? 'good' : grpcVerdict(grpcStatus);
  }
  if (faultOf(error) !== 'upstream') return 'nothing';
  if (error.name === 'refused_stream') return 'bad';
  if (error.name !== 'attempt_timeout') return error.sent ? 'bad' : 'unreachable';
  if (!timeoutCounts) return 'maybe_hung';
  return error.sent ? 'timed_out' : 'unreachable';
}

/**
 * What the status of a gRPC call says about the health of its upstream: UNAVAILABLE is what 503 is for HTTP. The deadline
 * is the caller's, and may be too short. Every other status is good, also INTERNAL, because the service itself sent it.
 */
export function grpcVerdict(grpcStatus: number): CountedVerdict {
  if (grpcStatus === GRPC_STATUS.UNAVAILABLE) return 'bad';
  return grpcStatus === GRPC_STATUS.DEADLINE_EXCEEDED ? 'nothing' : 'good';
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
 * @param callerEnded whether the time that the caller gives is over, which says no more than a caller that leaves
 */
export function endWait(
  limit: AdaptiveLimit,
  outcome: AttemptEnd,
  waitedMs: number,
  nowMs: number,
  callerEnded = false,
): void {
  const { response, error, grpcStatus } = outcome;
  if (response !== undefined) {
    limit.end(didWork(response.status, grpcStatus) ? waitedMs : undefined, nowMs);
  } else if (error.name === 'cancelled' || (callerEnded && error.name === 'attempt_timeout')) {
    limit.abandon(waitedMs, nowMs);
  }
  // Any other failure is often much faster than a response.
  else limit.end(error.name === 'attempt_timeout' ? waitedMs : undefined, nowMs);
}

/** Whether the upstream did the work. If it refuses or fails, it often responds much faster. */
function didWork(status: number, grpcStatus: number | undefined): boolean {
  if (grpcStatus !== undefined && isGrpcFailure(grpcStatus)) return false;
  return status < 500 && status !== TOO_MANY_REQUESTS;
}

/** Whether the status is one of a failing or a refusing server, as 5xx and 429 are. */
function isGrpcFailure(grpcStatus: number): boolean {
  return grpcStatus === GRPC_STATUS.RESOURCE_EXHAUSTED || isGrpcServerError(grpcStatus);
}
