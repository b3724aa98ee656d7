import type { RequestHead } from '@gateway/http/message/request-head';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';

/**
 * Whether a request leaves HTTP: a WebSocket handshake (RFC 6455 section 4.1) on a path of the proxy, without a body. Any
 * other upgrade is ignored (RFC 9110 section 7.8). Every CONNECT counts too, because its caller expects a tunnel: a plain
 * one, and one for another path or protocol, is refused.
 */
export function leavesHttp(head: RequestHead, isProxied: boolean): boolean {
  const { method, upgrade, framing } = head;
  // RFC 8441: any 2xx opens the tunnel.
  const isExtendedConnect = head.httpVersion === '2.0' && upgrade !== undefined;
  if (method === 'CONNECT' || isExtendedConnect) return true;
  return isProxied && upgrade === 'websocket' && method === 'GET' && framing.kind === 'none';
}

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
