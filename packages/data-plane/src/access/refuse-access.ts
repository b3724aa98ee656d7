import { BEARER_CHALLENGE } from '@gateway/shared/http/headers';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { AuthFailures } from './auth-failures.ts';
import type { RequestContext } from '../request/context.ts';

export interface AccessOptions {
  readonly failures: Pick<AuthFailures, 'count'>;
  readonly nowMs: () => number;
}

/**
 * Refuses a caller with 401, or with 429 if its address has failed too often.
 *
 * @throws GatewayError always
 */
export function refuseAccess(
  ctx: RequestContext,
  options: AccessOptions,
  message: string,
  challenge: string = BEARER_CHALLENGE,
): never {
  ctx.quota = options.failures.count(ctx.clientIp, options.nowMs());
  if (!ctx.quota.granted) {
    throw new GatewayError(
      'rate_limit_exceeded',
      'Too many failed authentications from this address.',
      { headers: { 'retry-after': String(ctx.quota.resetSeconds) } },
    );
  }
  throw new GatewayError('authentication_failed', message, {
    headers: { 'www-authenticate': challenge },
  });
}
