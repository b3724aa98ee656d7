import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Stage } from '../request/stage.ts';

const RETRY_AFTER_SECONDS = '5';

/**
 * Refuses a request whose service has a credential that this data plane cannot open: without it nothing
 * may be sent. Runs before the quota, so that the refusal spends nothing of it; another data plane may
 * have the key.
 */
export function createRequireCredential(): Stage {
  return (ctx) => {
    if (ctx.version?.service.credential?.usable !== false) return undefined;
    const route = ctx.route?.name ?? '';
    throw new GatewayError(
      'gateway_not_ready',
      `The credential for the upstreams of the route ${route} cannot be used by this data plane.`,
      { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
    );
  };
}
