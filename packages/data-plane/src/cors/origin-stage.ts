import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Stage } from '../request/stage.ts';

/**
 * Refuses WebSockets of pages whose origin the route does not allow: a browser opens them to any server, with its cookies,
 * and lets the page read them without asking (RFC 6455 section 10.2). Callers that are no browsers send no origin. Runs
 * after authorization, so that nobody else learns of the route.
 */
export function createCheckOrigin(): Stage {
  return ({ route, inbound }) => {
    const { origin } = inbound;
    if (route?.cors === undefined || origin === undefined) return undefined;
    if (route.cors.match(origin) !== undefined) return undefined;
    throw new GatewayError(
      'origin_not_allowed',
      `The route ${route.name} accepts no WebSocket from pages of this origin.`,
    );
  };
}
