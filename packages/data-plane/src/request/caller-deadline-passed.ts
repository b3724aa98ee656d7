import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from './context.ts';

/** A timer may run this much early, ms. */
const EARLY_MS = 1;

/** The error for a gRPC call whose caller gives it no more time. */
export function callerDeadlinePassed({ route }: Pick<RequestContext, 'route'>): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `The deadline of the caller (grpc-timeout) passed before the response of the route ${route?.name ?? ''} began.`,
  );
}

/**
 * Why a gRPC call is refused. Once the deadline of its caller has passed, that is the reason, and not what the call waited for
 * until then, such as the quota or a key: UNAVAILABLE would blame the gateway.
 *
 * @param nowMs of the monotonic clock
 */
export function unlessCallerIsLate(
  ctx: RequestContext,
  error: GatewayError,
  nowMs: number,
): GatewayError {
  const isLate = error.status === 503 && nowMs + EARLY_MS >= ctx.callerDeadlineMs;
  return isLate ? callerDeadlinePassed(ctx) : error;
}
