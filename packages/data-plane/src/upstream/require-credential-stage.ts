import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { connectionAuthScheme } from '@gateway/shared/http/connection-auth';
import { refuseField } from '../request/check-head.ts';
import { passedAuthorization } from '../request/outbound-headers.ts';
import type { Stage } from '../request/stage.ts';

const RETRY_AFTER_SECONDS = '5';

/**
 * Refuses a request whose credential for the upstream cannot be sent. That of the service: this data plane cannot decrypt
 * it, and nothing may be sent without it; another one may have the key. That of the caller: its scheme authenticates the
 * connection, and requests of other callers would follow on it (docs/adr/0052). Runs before the quota, so that the
 * refusal spends none.
 */
export function createRequireCredential(): Stage {
  return (ctx) => {
    if (ctx.version === undefined) return undefined;
    const { credential } = ctx.version.service;
    if (credential?.usable === false) {
      const route = ctx.route?.name ?? '';
      throw new GatewayError(
        'gateway_not_ready',
        `This data plane cannot decrypt the credential for the upstreams of the route ${route}.`,
        { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
      );
    }
    const { authorization } = ctx.inbound;
    const scheme = authorization === undefined ? undefined : connectionAuthScheme(authorization);
    if (scheme === undefined || passedAuthorization(ctx, credential) === undefined)
      return undefined;
    throw refuseField(
      'authorization',
      `must not use ${scheme}, which authenticates a connection: a gateway that many callers share cannot carry it`,
    );
  };
}
