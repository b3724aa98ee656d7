import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import type { BodyLimits } from '../request/request-body.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import { mayRepeat } from './decide-retry.ts';

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
