import type { FixedWindow } from '@gateway/shared/fixed-window';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../pipeline/context.ts';
import type { Stage } from '../pipeline/stage.ts';
import type { QuotaStore } from '../state/quota-store.ts';
import type { QuotaPolicy } from '../table/routing-table.ts';

export interface QuotaOptions {
  readonly store: QuotaStore;
  readonly nowMs: () => number;
}

/** Takes one from the route's quota. Runs after authorization, so that refused callers spend nothing. */
export function createQuota(options: QuotaOptions): Stage {
  return (ctx) => {
    const policy = ctx.route?.quota;
    if (policy === undefined) return undefined;
    const taken = options.store.take(policy, subjectOf(policy, ctx), options.nowMs());
    if (taken instanceof Promise)
      return taken.then((window) => {
        settle(ctx, policy, window);
        return undefined;
      });
    settle(ctx, policy, taken);
    return undefined;
  };
}

function subjectOf(policy: QuotaPolicy, ctx: RequestContext): string {
  if (policy.per === 'route') return '';
  return policy.per === 'token' ? (ctx.principal ?? ctx.clientIp) : ctx.clientIp;
}

function settle(ctx: RequestContext, policy: QuotaPolicy, window: FixedWindow): void {
  ctx.quota = window;
  if (window.granted) return;
  throw new GatewayError(
    'rate_limit_exceeded',
    `The quota of the route ${ctx.route?.name ?? ''} is used up: ${policy.limit} requests ` +
      `in ${policy.windowMs / 1000} seconds.`,
    { headers: { 'retry-after': String(window.resetSeconds) } },
  );
}
