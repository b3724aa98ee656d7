import type { Clock } from '@gateway/shared/clock';
import type { RequestContext } from '../pipeline/context.ts';
import type { CompiledRoute } from '../table/routing-table.ts';
import { attemptFailure, type AttemptResult } from './attempt.ts';
import { decideRetry } from './retry.ts';
import type { ServiceLoad } from './service-load.ts';

export interface NextAttemptOptions {
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * Milliseconds to wait before the next attempt, or undefined where there is to be none: puts what is
 * known of the request before the retry decision.
 *
 * @param bodyKept whether the body, if any, is still whole and at hand
 */
export function nextDelayMs(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptResult,
  bodyKept: boolean,
  retriesMade: number,
  load: ServiceLoad,
  options: NextAttemptOptions,
): number | undefined {
  const failure = attemptFailure(outcome, options.clock.nowMs());
  if (failure === undefined || ctx.clientGone) return undefined;
  const decision = decideRetry(
    {
      failure,
      sent: outcome.error?.sent ?? true,
      method: ctx.method,
      hasIdempotencyKey: ctx.inbound.idempotencyKey !== undefined,
      bodyKept,
      retriesMade,
      retryCount: route.retryCount,
      remainingMs: remainingMs(ctx, route, outcome, options.clock),
      liveRetries: load.liveRetries,
      liveRequests: load.liveRequests,
      random: options.random(),
    },
    route.retry,
  );
  return decision.retry ? decision.delayMs : undefined;
}

/** What is left to the deadline; a timer may run a little early, so an attempt that had all of it tells. */
function remainingMs(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptResult,
  clock: Clock,
): number {
  const hadAll = route.retry.perAttemptTimeoutMs === undefined;
  if (hadAll && outcome.error?.name === 'attempt_timeout') return 0;
  return ctx.deadlineMs - clock.monotonicMs();
}
