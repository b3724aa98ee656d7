/**
 * Decides whether a failed attempt is retried: one pure function over plain data. Only methods that RFC 9110
 * section 9.2.2 calls idempotent are retried after sending, unless the route allows more. The budget is Envoy's
 * `retry_budget` (a share of the live requests, with a minimum) and, for attempts that were sent, also Finagle's
 * `RetryBudget` (a share of all requests); see docs/adr/0006.
 */
import type { RetryPolicy } from '../routing-table/routing-table.ts';

/** How an attempt failed: it got no connection, no response, or one that the policy may retry. */
export type AttemptFailure =
  | { readonly kind: 'connect' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'attempt_timeout' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterMs: number | undefined };

export interface RetryState {
  readonly failure: AttemptFailure;
  /** Whether any of the request may have reached the upstream. */
  readonly sent: boolean;
  readonly method: string;
  readonly hasIdempotencyKey: boolean;
  /** Whether the body, if any, is still whole and at hand. */
  readonly bodyKept: boolean;
  /** Whether a healthy upstream is left that was not tried. */
  readonly elsewhere: boolean;
  readonly retriesMade: number;
  readonly retryCount: number;
  /** What is left to the deadline of the request. */
  readonly remainingMs: number;
  /** Retries of the service that are under way, and its live requests. */
  readonly liveRetries: number;
  readonly liveRequests: number;
  /** What the service's requests have earned, less its retries after sending. */
  readonly earnedRetries: number;
  /** Whether no other request of the service was under way at any time since this one began. */
  readonly alone: boolean;
  /** A random number in [0, 1). */
  readonly random: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  | { readonly retry: false; readonly why: RetryRefusal };

export type RetryRefusal =
  | 'status_not_retried'
  | 'retry_count_used_up'
  | 'method_not_idempotent'
  | 'body_not_kept'
  | 'budget_used_up'
  | 'deadline';

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export const RETRY_BUDGET_SHARE = 0.2;
export const RETRY_BUDGET_MINIMUM = 3;
/**
 * What each request earns, in retries after sending. The live requests alone do not bound the attempts:
 * retries that fail faster than first attempts come more often. It is a little less than the share, as
 * requests that are alone do not ask; both together stay within the share of all requests.
 */
export const RETRY_EARNED_SHARE = 0.19;
/** What quiet times earn is not spent at once on an upstream that begins to fail. */
export const MAX_EARNED_RETRIES = 100;
const MAX_BACKOFF_MS = 10_000;
/** With less time than this an attempt would only disturb the upstream. */
const MIN_ATTEMPT_MS = 5;

/** Whether RFC 9110 section 9.2.2 calls the method idempotent. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method);
}

/** Whether a request of this kind may be repeated after some of it was sent. */
export function mayRepeat(
  method: string,
  hasIdempotencyKey: boolean,
  policy: RetryPolicy,
): boolean {
  if (isIdempotent(method)) return true;
  if (policy.unsafeMethods === 'always') return true;
  return policy.unsafeMethods === 'with_idempotency_key' && hasIdempotencyKey;
}

/** Decides on the next attempt and says why not, or after how many milliseconds. */
export function decideRetry(state: RetryState, policy: RetryPolicy): RetryDecision {
  const { failure } = state;
  if (failure.kind === 'status' && !policy.onStatuses.has(failure.status)) {
    return { retry: false, why: 'status_not_retried' };
  }
  if (state.retriesMade >= state.retryCount) return { retry: false, why: 'retry_count_used_up' };
  if (state.sent && !mayRepeat(state.method, state.hasIdempotencyKey, policy)) {
    return { retry: false, why: 'method_not_idempotent' };
  }
  if (!state.bodyKept) return { retry: false, why: 'body_not_kept' };
  const budget = Math.max(RETRY_BUDGET_MINIMUM, RETRY_BUDGET_SHARE * state.liveRequests);
  // A request that never left moves on to a healthy upstream, which would have served it anyhow: that
  // is no load to guard against, and nothing to wait for.
  const moves = !state.sent && state.elsewhere;
  // All that an upstream holds is cut off at once where it ends; what is earned bounds those that move.
  const wasCutOff = failure.kind === 'reset' && state.elsewhere;
  if (!moves && !wasCutOff && state.liveRetries >= budget) {
    return { retry: false, why: 'budget_used_up' };
  }
  // What never reached an upstream was no load to any, and a request that is alone is no load.
  const counts = state.sent && !state.alone;
  if (counts && state.earnedRetries < 1) return { retry: false, why: 'budget_used_up' };
  const delayMs = moves ? 0 : retryDelayMs(state, policy);
  if (delayMs + MIN_ATTEMPT_MS > state.remainingMs) return { retry: false, why: 'deadline' };
  return { retry: true, delayMs };
}

/** Full jitter: a random part of the doubled back-off, yet never less than the upstream asks for. */
function retryDelayMs(state: RetryState, policy: RetryPolicy): number {
  const ceilingMs = Math.min(MAX_BACKOFF_MS, policy.backoffMs * 2 ** state.retriesMade);
  const jitterMs = Math.floor(state.random * ceilingMs);
  const askedMs = state.failure.kind === 'status' ? (state.failure.retryAfterMs ?? 0) : 0;
  return Math.max(jitterMs, askedMs);
}

/** The three forms of a date (RFC 9110 section 5.6.7); the last one names no zone, and is in GMT too. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/**
 * Milliseconds that a `Retry-After` field asks for: whole seconds, however many, or an HTTP date (RFC
 * 9110 section 10.2.3). undefined where the field is absent or neither: then it asks for nothing.
 */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Date.parse alone takes a year out of any text, and a time without a zone for one of this machine.
  if (!HTTP_DATES.some((form) => form.test(value))) return undefined;
  const dateMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
