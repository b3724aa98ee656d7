import { pause, type Clock, type Timer } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ClientLeftError } from '../request/client-left-error.ts';
import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import type { AttemptEnd, AttemptErrorName } from './attempt-end.ts';
import { attemptFailure, deadlinePassed, recordRetry, type NotRetried } from './attempt-outcome.ts';
import {
  decideRetry,
  mayRepeat,
  type RetryDecision,
  type RetryState,
  MAX_EARNED_RETRIES,
  RETRY_BUDGET_MINIMUM,
  RETRY_EARNED_SHARE,
} from './decide-retry.ts';
import type { BodyLimits } from '../request/request-body.ts';

export interface RetryPlanOptions {
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** The part of the state that the attempts of a request have. */
type AttemptState = Pick<RetryState, 'bodyKept' | 'retriesMade' | 'hasAlternative'>;

/**
 * Decides whether a failed attempt is followed by another one, takes that retry from the budget, and adds the decision
 * to the record.
 */
export function planRetry(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptEnd,
  state: AttemptState,
  budget: RetryBudget,
  options: RetryPlanOptions,
): RetryDecision<NotRetried> {
  const plan = decide(ctx, route, outcome, state, budget, options);
  if (plan.retry && wasSent(outcome)) spendRetry(budget);
  recordRetry(ctx, plan);
  return plan;
}

function decide(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptEnd,
  state: AttemptState,
  budget: RetryBudget,
  options: RetryPlanOptions,
): RetryDecision<NotRetried> {
  const failure = attemptFailure(outcome, options.clock.nowMs());
  if (isAbandoned(ctx)) return { retry: false, why: whyAbandoned(ctx) };
  if (failure === undefined) return { retry: false, why: 'caller_failure' };
  if (hasLostKeyLease(ctx)) return { retry: false, why: 'key_lease_ended' };
  return decideRetry(
    {
      failure,
      sent: wasSent(outcome),
      method: ctx.method,
      hasIdempotencyKey: sendsIdempotencyKey(ctx.inbound),
      ...state,
      retryCount: route.settings.retry_count,
      remainingMs: remainingMs(ctx, route, outcome, options.clock),
      liveRetries: budget.liveRetries,
      recentRequests: budget.recentRequests,
      earnedRetries: budget.earnedRetries,
      alone: !budget.shared,
      random: options.random(),
    },
    route.retry,
  );
}

/** Whether any of the request may have reached the upstream. */
function wasSent({ error }: AttemptEnd): boolean {
  return error?.sent ?? true;
}

/**
 * Waits before the next attempt. The retry counts as live meanwhile.
 *
 * @throws ClientLeftError if the caller leaves meanwhile, unless the request has an idempotency key
 * @throws GatewayError `upstream_timeout` if the deadline has passed, `upstream_unavailable` if the lease of its key
 * has ended
 */
export async function backOff(
  ctx: RequestContext,
  delayMs: number,
  budget: RetryBudget,
  clock: Clock,
): Promise<void> {
  ctx.times.enter('retry', clock.monotonicMs());
  const left = new AbortController();
  if (ctx.capture === undefined) ctx.whenClientGone({ cancel: () => left.abort() });
  budget.liveRetries += 1;
  if (delayMs > 0) await pause(clock, delayMs, left.signal);
  budget.liveRetries -= 1;
  const endedMs = clock.monotonicMs();
  ctx.times.enter('gateway', endedMs);
  // The timer may be late.
  assertStillNeeded(ctx, endedMs);
  if (hasLostKeyLease(ctx)) {
    recordRetry(ctx, { retry: false, why: 'key_lease_ended' });
    const message = 'It was not retried because the lease of its idempotency key has ended.';
    throw new GatewayError('upstream_unavailable', `The request failed. ${message}`);
  }
}

/**
 * Runs before each attempt, so that nothing is sent after the caller has left or the deadline has passed.
 *
 * @throws ClientLeftError, or GatewayError; see `deadlinePassed`
 */
export function assertStillNeeded(ctx: RequestContext, nowMs: number): void {
  if (isAbandoned(ctx)) {
    recordRetry(ctx, { retry: false, why: whyAbandoned(ctx) });
    throw new ClientLeftError();
  }
  if (nowMs >= ctx.deadlineMs) {
    recordRetry(ctx, { retry: false, why: 'deadline' });
    throw deadlinePassed(ctx);
  }
}

/** Other data planes may already have reported the outcome of the key as unknown, so nothing may be sent any more. */
function hasLostKeyLease(ctx: RequestContext): boolean {
  return ctx.holdsKey?.() === false;
}

function whyAbandoned({ endReason }: RequestContext): 'caller_left' | 'response_ended' {
  return endReason === undefined ? 'caller_left' : 'response_ended';
}

/** Whether nobody waits for the response. A request with an idempotency key continues, so that its outcome is known. */
function isAbandoned(ctx: RequestContext): boolean {
  return ctx.clientGone && ctx.capture === undefined;
}

const OUT_OF_TIME = new Set<AttemptErrorName>(['attempt_timeout', 'max_connections']);

/** The time to the deadline. It is 0 after an attempt that was given all of it, because a timer may run a little early. */
function remainingMs(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptEnd,
  clock: Clock,
): number {
  const hadAllTime = route.retry.perAttemptTimeoutMs === undefined;
  const { error } = outcome;
  if (hadAllTime && error !== undefined && OUT_OF_TIME.has(error.name)) return 0;
  return ctx.deadlineMs - clock.monotonicMs();
}

export interface ForwardBodyOptions {
  /** The largest request body that is kept so that a retry can send it again. */
  readonly retryBodyBytes: number;
}

/** A body whose length is announced is kept up to this size even if no retry needs it: that is cheaper. */
const SMALL_BODY_BYTES = 64 * 1024;

/** How much of a body is accepted, and how much of it is kept, if no earlier stage had to read it. */
export function forwardBodyLimits(
  ctx: RequestContext,
  route: CompiledRoute,
  { retryBodyBytes }: ForwardBodyOptions,
): BodyLimits {
  const hasKey = sendsIdempotencyKey(ctx.inbound);
  const kept = route.settings.retry_count > 0 && mayRepeat(ctx.method, hasKey, route.retry);
  const unkept = ctx.framing.kind === 'chunked' ? 0 : SMALL_BODY_BYTES;
  return {
    maxBytes: route.settings.max_body_bytes,
    keepBytes: kept ? retryBodyBytes : unkept,
    deadlineMs: ctx.deadlineMs,
  };
}

/** The live requests and retries of one service, from which its retry budget follows. */
export interface RetryBudget {
  liveRequests: number;
  /**
   * The recent maximum of the live requests: it falls by a 64th with each new request. The share is taken of this number,
   * because the responses of many requests are often read in one turn of the event loop: when its last failures are
   * decided, hardly any other request is live.
   */
  recentRequests: number;
  liveRetries: number;
  /** Retries after sending that the service has left; never below 0. */
  earnedRetries: number;
  /** Whether there was more than one live request at any time since the service was last idle. */
  shared: boolean;
  /** Called when a request that has entered ends. Bound, so that a request can register it without an allocation. */
  readonly leave: () => void;
}

interface Entry extends RetryBudget {
  /** When the last live request ended; ms, monotonic. */
  idleSinceMs: number;
  /** Removes the entry, if there are too many to keep idle ones. */
  removal: Timer | undefined;
}

/** After this long without a live request, a budget starts over. */
const IDLE_MS = 1000;

/** What is left of the recent number of live requests after each further request. */
const RECENT_KEPT = 63 / 64;

/** Idle services are kept up to this number; otherwise an idle gateway would set a timer for each request. */
const MAX_KEPT = 1024;

/** The retry budgets of all services, by service id. */
export class RetryBudgets {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request of the service as live, until the `leave` of its budget is called. */
  enter(serviceId: string): RetryBudget {
    let entry = this.#entries.get(serviceId);
    if (entry === undefined) {
      entry = this.#create(serviceId);
      this.#entries.set(serviceId, entry);
    } else if (entry.liveRequests === 0) this.#resume(entry);
    entry.shared = entry.liveRequests > 0;
    entry.liveRequests += 1;
    entry.recentRequests = Math.max(entry.liveRequests, entry.recentRequests * RECENT_KEPT);
    entry.earnedRetries = Math.min(MAX_EARNED_RETRIES, entry.earnedRetries + RETRY_EARNED_SHARE);
    return entry;
  }

  #create(serviceId: string): Entry {
    const entry: Entry = {
      ...INITIAL,
      liveRequests: 0,
      shared: false,
      idleSinceMs: 0,
      removal: undefined,
      leave: () => this.#leave(serviceId, entry),
    };
    return entry;
  }

  #leave(serviceId: string, entry: Entry): void {
    entry.liveRequests -= 1;
    if (entry.liveRequests > 0) return;
    entry.idleSinceMs = this.#clock.monotonicMs();
    if (this.#entries.size > MAX_KEPT) {
      entry.removal = this.#clock.setTimer(IDLE_MS, () => void this.#entries.delete(serviceId));
    }
  }

  /** Any load has short gaps without a live request; the budget survives them. */
  #resume(entry: Entry): void {
    entry.removal?.cancel();
    entry.removal = undefined;
    if (this.#clock.monotonicMs() - entry.idleSinceMs >= IDLE_MS) Object.assign(entry, INITIAL);
  }
}

/** The budget of a service that was idle or is new. */
const INITIAL = { recentRequests: 0, liveRetries: 0, earnedRetries: RETRY_BUDGET_MINIMUM };

/** Takes one retry after sending from the budget. */
export function spendRetry(budget: RetryBudget): void {
  budget.earnedRetries = Math.max(0, budget.earnedRetries - 1);
}

/** How long an attempt that starts now may take until the head of its response has arrived, ms. */
export function attemptTimeoutMs(ctx: RequestContext, route: CompiledRoute, nowMs: number): number {
  const remainingMs = Math.max(1, ctx.deadlineMs - nowMs);
  return Math.min(remainingMs, route.retry.perAttemptTimeoutMs ?? Infinity);
}
