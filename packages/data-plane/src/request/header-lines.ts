import type { RequestContext } from './context.ts';
import { refuseField } from './check-head.ts';

/**
 * Refuses a head with too many lines. MAX_HEADER_BYTES does not bound them well: a line can be very short, and each one
 * costs work here and at the upstream.
 *
 * @throws GatewayError `invalid_request`
 */
export function checkHeaderLines(ctx: RequestContext, maxHeaderLines: number): void {
  if (ctx.inbound.lines <= maxHeaderLines) return;
  throw refuseField('headers', `must be at most ${maxHeaderLines} lines`, { connection: 'close' });
}
