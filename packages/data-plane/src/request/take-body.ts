import type { Clock } from '@gateway/shared/clock';
import type { RequestContext } from './context.ts';
import type { BodyLimits, TakenBody } from './request-body.ts';

/**
 * Takes the body of a request and measures the wait: that time counts as the caller's, not the
 * gateway's. Returns no promise if the body has arrived, because awaiting one would cost every request.
 */
export function takeBody(
  ctx: RequestContext,
  limits: BodyLimits,
  clock: Clock,
): TakenBody | Promise<TakenBody> {
  const taken = ctx.body.take(limits);
  return taken instanceof Promise ? waitFor(ctx, taken, clock) : taken;
}

async function waitFor(
  ctx: RequestContext,
  pending: Promise<TakenBody>,
  clock: Clock,
): Promise<TakenBody> {
  const startedMs = clock.monotonicMs();
  try {
    return await pending;
  } finally {
    ctx.clientWaitMs += clock.monotonicMs() - startedMs;
  }
}
