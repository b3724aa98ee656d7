import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';

/**
 * Over HTTP/1.1 an upstream refuses an upgrade with any status but 101. Over HTTP/2 a 2xx of it would look like a tunnel
 * (RFC 8441 section 5).
 *
 * @throws GatewayError for such a response
 */
export function refuseFalseTunnel(ctx: RequestContext, status: number): void {
  if (ctx.httpVersion !== '2.0' || status < 200 || status > 299) return;
  throw new GatewayError(
    'upstream_unavailable',
    `The upstream of the route ${ctx.route?.name ?? ''} answered ${status} to the WebSocket handshake instead of 101.`,
  );
}
