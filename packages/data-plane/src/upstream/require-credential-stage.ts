import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Stage } from '../request/stage.ts';

const RETRY_AFTER_SECONDS = '5';

/**
 * Refuses a request whose service has a credential that this data plane cannot decrypt, because nothing may be sent
 * without it. Runs before the quota, so that the refusal spends no quota; another data plane may have the key.
 */
export function createRequireCredential(): Stage {
  return (ctx) => {
    if (ctx.version?.service.credential?.usable !== false) return undefined;
    const route = ctx.route?.name ?? '';
    throw new GatewayError(
      'gateway_not_ready',
      `This data plane cannot decrypt the credential for the upstreams of the route ${route}.`,
      { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
    );
  };
}
