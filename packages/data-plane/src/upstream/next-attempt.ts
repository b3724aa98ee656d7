import { pause, type Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { ClientLeftError } from '../request/caller.ts';
import type { RequestContext } from '../request/context.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import { attemptFailure, deadlinePassed, type AttemptResult } from './attempt.ts';
import { decideRetry } from './retry.ts';
import { spendRetry, type ServiceLoad } from './service-load.ts';

export interface NextAttemptOptions {
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

export interface KnownOfAttempts {
  /** Whether the body, if any, is still whole and at hand. */
  readonly bodyKept: boolean;
  readonly retriesMade: number;
  /** Whether a healthy upstream is left that was not tried. */
  readonly elsewhere: boolean;
}

/**
 * Milliseconds to wait before the next attempt, or undefined where there is to be none: puts what is
 * known of the request before the retry decision, and takes a retry from the budget.
 */
export function nextDelayMs(
  ctx: RequestContext,
  route: CompiledRoute,
  outcome: AttemptResult,
  known: KnownOfAttempts,
  load: ServiceLoad,
  options: NextAttemptOptions,
): number | undefined {
  const failure = attemptFailure(outcome, options.clock.nowMs());
  if (failure === undefined || isAbandoned(ctx)) return undefined;
  if (hasLostKey(ctx)) return undefined;
  const sent = outcome.error?.sent ?? true;
  const decision = decideRetry(
    {
      failure,
      sent,
      method: ctx.method,
      hasIdempotencyKey: ctx.inbound.idempotencyKey !== undefined,
      ...known,
      retryCount: route.settings.retry_count,
      remainingMs: remainingMs(ctx, route, outcome, options.clock),
      liveRetries: load.liveRetries,
      liveRequests: load.liveRequests,
      earnedRetries: load.earnedRetries,
      alone: !load.shared,
      random: options.random(),
    },
    route.retry,
  );
  if (!decision.retry) return undefined;
  if (sent) spendRetry(load);
  return decision.delayMs;
}

/**
 * Waits before the next attempt, which is time spent for the upstream's sake and no work of the
 * gateway. The retry counts as under way from here on.
 *
 * @throws ClientLeftError where the caller leaves meanwhile, unless the request holds an idempotency key;
 * GatewayError upstream_timeout where the deadline has passed, upstream_unavailable where the lease of
 * its key is over
 */
export async function backOff(
  ctx: RequestContext,
  delayMs: number,
  load: ServiceLoad,
  clock: Clock,
): Promise<void> {
  const startedMs = clock.monotonicMs();
  const left = new AbortController();
  if (ctx.capture === undefined) ctx.whenClientGone(() => left.abort());
  load.liveRetries += 1;
  if (delayMs > 0) await pause(clock, delayMs, left.signal);
  load.liveRetries -= 1;
  const endedMs = clock.monotonicMs();
  ctx.upstreamMs += endedMs - startedMs;
  // The timer may be late.
  assertAwaited(ctx, endedMs);
  if (hasLostKey(ctx)) {
    const message = 'It was not sent again, as the lease of its idempotency key was over.';
    throw new GatewayError('upstream_unavailable', `The request failed. ${message}`);
  }
}

/**
 * What nobody waits for any more must not be sent: a wait before may have been too long for the caller, or for
 * the deadline.
 *
 * @throws ClientLeftError, GatewayError upstream_timeout
 */
export function assertAwaited(ctx: RequestContext, nowMs: number): void {
  if (isAbandoned(ctx)) throw new ClientLeftError();
  if (nowMs >= ctx.deadlineMs) throw deadlinePassed(ctx);
}

/** Others may have told then that the end of this request is not known: it must have ended. */
function hasLostKey(ctx: RequestContext): boolean {
  return ctx.keyHeld?.() === false;
}

/** Whether its caller has left; one that holds an idempotency key goes on, so that its end is known. */
function isAbandoned(ctx: RequestContext): boolean {
  return ctx.clientGone && ctx.capture === undefined;
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
