import { BEARER_CHALLENGE } from '@gateway/shared/http/headers';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { AccessRefusal, AccessRule } from './access-rules.ts';
import { challengesFor } from './challenges.ts';
import type { AuthFailures } from './auth-failures.ts';
import type { RequestContext } from '../request/context.ts';

export interface AccessOptions {
  readonly failures: Pick<AuthFailures, 'count' | 'beginSignatureCheck'>;
  readonly nowMs: () => number;
  /** Whether the configuration of every environment is loaded; then one that the table lacks does not exist. */
  readonly complete: () => boolean;
}

/** The refusal of a caller. Its rule says more than the response, and is for operators. */
export class AccessError extends GatewayError {
  readonly rule: AccessRule;

  constructor(rule: AccessRule, ...parts: ConstructorParameters<typeof GatewayError>) {
    super(...parts);
    this.rule = rule;
  }
}

/**
 * Refuses a caller with 401, or with 429 if its address has failed too often.
 *
 * @throws AccessError always
 */
export function refuseAccess(
  ctx: RequestContext,
  options: AccessOptions,
  { rule, message, challenge = BEARER_CHALLENGE }: AccessRefusal,
): never {
  countFailure(ctx, options, rule);
  throw new AccessError(rule, 'authentication_failed', message, {
    headers: { 'www-authenticate': challengesFor(ctx, challenge) },
  });
}

/**
 * Counts a failure of a caller without valid credentials.
 *
 * @throws AccessError if its address has failed too often
 */
export function countFailure(ctx: RequestContext, options: AccessOptions, rule: AccessRule): void {
  ctx.quota = options.failures.count(ctx.clientIp, options.nowMs());
  if (ctx.quota.granted) return;
  throw new AccessError(
    rule,
    'rate_limit_exceeded',
    'Too many failed authentications from this address.',
    { headers: { 'retry-after': String(ctx.quota.resetSeconds) } },
  );
}

/**
 * Refuses a request to an environment that this data plane does not serve while it lacks the configuration of any. The
 * tokens and routes of that environment are unknown: a 401 would tell the caller that its token is wrong, and it might
 * discard a valid one. An environment that does not exist gets the same answer, so that nobody learns which do.
 *
 * @throws GatewayError gateway_not_ready
 */
export function requireServed(ctx: RequestContext, { complete }: AccessOptions): void {
  if (ctx.environment !== undefined || complete()) return;
  throw new GatewayError(
    'gateway_not_ready',
    'No configuration of this environment is loaded yet.',
    { headers: { 'retry-after': '1' } },
  );
}
