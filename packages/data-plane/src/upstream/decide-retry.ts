/**
 * Decides whether a failed attempt is retried: one pure function over plain data. Only methods that are registered as
 * idempotent (RFC 9110 section 9.2.2) are retried after sending, unless the route allows more. The budget is Envoy's
 * `retry_budget` (a share of the live requests, with a minimum) and, for attempts that were sent, also Finagle's
 * `RetryBudget` (a share of all requests); see docs/adr/0006.
 */
import { isIdempotent } from '@gateway/shared/http/methods';
import type { RetryPolicy } from '../routing-table/routing-table.ts';

/** How an attempt failed: without a connection, without a response, or with a status that the policy may retry. */
export type AttemptFailure =
  | { readonly kind: 'connect' }
  /** The upstream ended the connection before it looked at the request. */
  | { readonly kind: 'goaway' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'attempt_timeout' }
  | {
      readonly kind: 'status';
      /** That of HTTP; 503 also for a gRPC call that ended with UNAVAILABLE and no message. */
      readonly status: number;
      /** How long the upstream asks to wait; undefined: it does not say. */
      readonly retryAfterMs: RequestedWait | undefined;
    };

/** How long an upstream asks to wait before a retry, ms; `never`: it forbids one. */
export type RequestedWait = number | 'never';

export interface RetryState {
  readonly failure: AttemptFailure;
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
  readonly method: string;
  readonly hasIdempotencyKey: boolean;
  /** Whether the body can be sent again, or there is none. */
  readonly bodyKept: boolean;
  /** Whether there is a healthy upstream that was not tried. */
  readonly hasAlternative: boolean;
  readonly retriesMade: number;
  readonly retryCount: number;
  /** How often the request was sent again without being counted as a retry. */
  readonly resends: number;
  /** The time to the deadline of the request. */
  readonly remainingMs: number;
  /** Live retries of the service, and the recent maximum of its live requests; see `RetryBudget`. */
  readonly liveRetries: number;
  readonly recentRequests: number;
  /** Retries that the requests of the service have earned, less its retries after sending. */
  readonly earnedRetries: number;
  /** Whether there was no other live request of the service since this one began. */
  readonly alone: boolean;
  /** A random number in [0, 1). */
  readonly random: number;
}

/** Whether there is a next attempt, and why. */
export type RetryDecision<Refusal = RetryRefusal> =
  | {
      readonly retry: true;
      readonly delayMs: number;
      readonly why: RetryReason;
      /** It counts neither towards `retryCount` nor as a live retry. */
      readonly uncounted?: true;
    }
  | { readonly retry: false; readonly why: Refusal };

/** Why sending the request again does no harm. */
export type RetryReason =
  | 'nothing_sent'
  | 'method_idempotent'
  | 'idempotency_key'
  | 'unsafe_methods_always';

export type RetryRefusal =
  | 'status_not_retried'
  | 'upstream_forbids'
  | 'retry_count_used_up'
  | 'method_not_idempotent'
  | 'body_not_kept'
  | 'budget_used_up'
  | 'deadline';

export const RETRY_BUDGET_SHARE = 0.2;
export const RETRY_BUDGET_MINIMUM = 3;
/**
 * How many retries after sending each request earns. A share of the live requests alone would not bound the attempts,
 * because retries that fail faster than first attempts are made more often. It is a little less than
 * `RETRY_BUDGET_SHARE`, because requests that are alone do not need to earn their retries.
 */
export const RETRY_EARNED_SHARE = 0.19;
/** A long time without failures must not earn a burst of retries on an upstream that begins to fail. */
export const MAX_EARNED_RETRIES = 100;
/**
 * How often a request is sent again because its upstream ended the connection. An upstream that restarts must not fail
 * requests that it never looked at, also on a route without retries; one that ends every connection must.
 */
export const MAX_RESENDS = 2;
const MAX_BACKOFF_MS = 10_000;
/** An attempt with less time than this could not succeed, and would only add load to the upstream. */
const MIN_ATTEMPT_MS = 5;

/** Whether a request may be sent again after any of it was sent. */
export function mayRepeat(
  method: string,
  hasIdempotencyKey: boolean,
  policy: RetryPolicy,
): boolean {
  return repeatReason(method, hasIdempotencyKey, policy) !== undefined;
}

function repeatReason(
  method: string,
  hasIdempotencyKey: boolean,
  policy: RetryPolicy,
): RetryReason | undefined {
  if (isIdempotent(method)) return 'method_idempotent';
  if (policy.unsafeMethods === 'always') return 'unsafe_methods_always';
  const keyed = policy.unsafeMethods === 'with_idempotency_key' && hasIdempotencyKey;
  return keyed ? 'idempotency_key' : undefined;
}

/** Decides whether there is a next attempt: after which delay and why, or why there is none. */
export function decideRetry(state: RetryState, policy: RetryPolicy): RetryDecision {
  const { failure } = state;
  if (failure.kind === 'status' && !policy.onStatuses.has(failure.status)) {
    return { retry: false, why: 'status_not_retried' };
  }
  if (requestedWait(failure) === 'never') return { retry: false, why: 'upstream_forbids' };
  if (failure.kind === 'goaway' && state.resends < MAX_RESENDS) {
    if (!state.bodyKept) return { retry: false, why: 'body_not_kept' };
    if (state.remainingMs < MIN_ATTEMPT_MS) return { retry: false, why: 'deadline' };
    return { retry: true, delayMs: 0, why: 'nothing_sent', uncounted: true };
  }
  if (state.retriesMade >= state.retryCount) return { retry: false, why: 'retry_count_used_up' };
  const why = state.sent
    ? repeatReason(state.method, state.hasIdempotencyKey, policy)
    : 'nothing_sent';
  if (why === undefined) return { retry: false, why: 'method_not_idempotent' };
  if (!state.bodyKept) return { retry: false, why: 'body_not_kept' };
  const budget = Math.max(RETRY_BUDGET_MINIMUM, RETRY_BUDGET_SHARE * state.recentRequests);
  // A request of which nothing was sent goes to another healthy upstream at once: that is no additional load.
  const moves = !state.sent && state.hasAlternative;
  // An upstream that ends resets all its requests at once; the earned retries bound those that move.
  const wasCutOff = failure.kind === 'reset' && state.hasAlternative;
  if (!moves && !wasCutOff && state.liveRetries >= budget) {
    return { retry: false, why: 'budget_used_up' };
  }
  // An attempt that sent nothing was no load for an upstream, and one request alone cannot overload it.
  const counts = state.sent && !state.alone;
  if (counts && state.earnedRetries < 1) return { retry: false, why: 'budget_used_up' };
  const delayMs = moves ? 0 : retryDelayMs(state, policy);
  if (delayMs + MIN_ATTEMPT_MS > state.remainingMs) return { retry: false, why: 'deadline' };
  return { retry: true, delayMs, why };
}

/** Back-off with full jitter, but at least the time that the upstream asks for. */
function retryDelayMs(state: RetryState, policy: RetryPolicy): number {
  const ceilingMs = Math.min(MAX_BACKOFF_MS, policy.backoffMs * 2 ** state.retriesMade);
  const jitterMs = Math.floor(state.random * ceilingMs);
  const requestedMs = requestedWait(state.failure);
  return typeof requestedMs === 'number' ? Math.max(jitterMs, requestedMs) : jitterMs;
}

function requestedWait(failure: AttemptFailure): RequestedWait | undefined {
  return failure.kind === 'status' ? failure.retryAfterMs : undefined;
}

/** The three forms of an HTTP date (RFC 9110 section 5.6.7). The last one has no zone; it is in GMT too. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/**
 * Parses a `Retry-After` field: a number of seconds or an HTTP date (RFC 9110 section 10.2.3).
 *
 * @returns the delay in ms, or undefined if the field is missing or invalid
 */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Date.parse alone accepts almost any text, and takes a time without a zone as local time.
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined;
  const dateMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

const WHOLE_NUMBER = /^\d{1,10}$/;

/**
 * Parses a `grpc-retry-pushback-ms` field (gRPC proposal A6): how long a server asks clients to wait before a retry. With a
 * negative number, or another text, it forbids one.
 */
export function parsePushbackMs(value: string | undefined): RequestedWait | undefined {
  if (value === undefined) return undefined;
  return WHOLE_NUMBER.test(value) ? Number(value) : 'never';
}
