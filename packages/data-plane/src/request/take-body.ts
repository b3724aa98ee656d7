import type { Clock } from '@gateway/shared/clock';
import type { RequestContext } from './context.ts';
import type { BodyLimits, TakenBody } from './request-body.ts';

/**
 * Takes the body of a request and adds the wait to its account of time. Returns no promise if the body has arrived,
 * because awaiting one would cost every request.
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
  ctx.times.enter('receiving', clock.monotonicMs());
  try {
    return await pending;
  } finally {
    ctx.times.enter('gateway', clock.monotonicMs());
  }
}
