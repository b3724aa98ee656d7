import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { NO_CONTENT, type Stage } from '../request/stage.ts';
import { preflightFields } from '../request/preflight.ts';
import type { PreflightAllowance } from './preflight-allowance.ts';

export interface PreflightStageOptions {
  readonly allowance: Pick<PreflightAllowance, 'count' | 'left'>;
  readonly nowMs: () => number;
}

/**
 * Answers a preflight. Runs before authentication, because browsers send preflights without credentials; so it uses no
 * quota, and has a bound of its own.
 */
export function createPreflight({ allowance, nowMs }: PreflightStageOptions): Stage {
  return (ctx) => {
    const { preflight } = ctx.target;
    if (preflight === undefined) return undefined;
    ctx.kind = 'preflight';
    ctx.applied('cors');
    ctx.token = undefined;
    ctx.route = preflight.routes[0];
    ctx.quota = allowance.count(ctx.clientIp, nowMs());
    if (!ctx.quota.granted) {
      throw new GatewayError('rate_limit_exceeded', 'Too many preflights from this address.', {
        headers: { 'retry-after': String(ctx.quota.resetSeconds) },
      });
    }
    return {
      status: 204,
      statusText: 'No Content',
      fields: preflightFields(preflight),
      body: NO_CONTENT,
    };
  };
}
