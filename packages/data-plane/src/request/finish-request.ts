import type { RequestContext } from './context.ts';
import type { InFlight } from './in-flight.ts';

/**
 * Call it when a request is over, however it ended. What the request holds is given back, and its end is reported,
 * whatever throws.
 */
export function finishRequest(
  ctx: RequestContext,
  inFlight: InFlight,
  finished: (ctx: RequestContext) => void,
): void {
  inFlight.leave();
  try {
    ctx.finish();
  } finally {
    finished(ctx);
  }
}
