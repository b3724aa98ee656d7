import { pause, type Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import type { AttemptEnd, AttemptErrorName } from './attempt-end.ts';
import {
  assertStillNeeded,
  attemptFailure,
  isAbandoned,
  recordRetry,
  whyAbandoned,
  type NotRetried,
} from './attempt-outcome.ts';
import { decideRetry, type RetryDecision, type RetryState } from './decide-retry.ts';
import { spendRetry, type RetryBudget } from './retry-budget.ts';

export interface RetryPlanOptions {
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** The part of the state that the attempts of a request have. */
type AttemptState = Pick<RetryState, 'bodyKept' | 'retriesMade' | 'resends' | 'hasAlternative'>;

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

/** Other data planes may already have reported the outcome of the key as unknown, so nothing may be sent any more. */
function hasLostKeyLease(ctx: RequestContext): boolean {
  return ctx.holdsKey?.() === false;
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
