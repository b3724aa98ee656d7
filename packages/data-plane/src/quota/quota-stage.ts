import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { addressGroup } from '@gateway/shared/net/client-address';
import type { RequestContext } from '../request/context.ts';
import type { Stage } from '../request/stage.ts';
import type { QuotaDecision, QuotaStore } from './quota-store.ts';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import { ClientLeftError } from '../request/client-left-error.ts';
import { describeBound } from '../nats/bucket-bounds.ts';

export interface QuotaOptions {
  readonly store: QuotaStore;
  readonly clock: Clock;
}

/** Takes one request from the quota of the route. Runs after authorization, so that refused callers spend nothing. */
export function createQuota(options: QuotaOptions): Stage {
  const { store, clock } = options;
  return (ctx) => {
    const policy = ctx.route?.quota;
    if (policy === undefined) return undefined;
    const decision = store.take(policy, subjectOf(policy, ctx), clock.nowMs(), ctx);
    if (decision instanceof Promise) return applyLater(ctx, decision, clock);
    apply(ctx, decision);
    return undefined;
  };
}

function subjectOf(policy: QuotaPolicy, ctx: RequestContext): string {
  if (policy.per === 'route') return '';
  if (policy.per === 'token' && ctx.principal !== undefined) return ctx.principal;
  return addressGroup(ctx.clientIp);
}

/** Waits for the quota until the deadline of the request, or until its caller leaves. */
async function applyLater(
  ctx: RequestContext,
  deciding: Promise<QuotaDecision>,
  clock: Clock,
): Promise<undefined> {
  const late = Promise.withResolvers<undefined>();
  const startedMs = clock.monotonicMs();
  ctx.times.enter('quota', startedMs);
  const leftMs = Math.max(0, ctx.deadlineMs - startedMs);
  const timer = clock.setTimer(leftMs, () => late.resolve(undefined));
  ctx.whenClientGone({ cancel: () => late.resolve(undefined) });
  const decision = await Promise.race([deciding, late.promise]);
  ctx.times.enter('gateway', clock.monotonicMs());
  ctx.whenClientGone(undefined);
  timer.cancel();
  if (ctx.clientGone) throw new ClientLeftError();
  if (decision === undefined) {
    throw unavailable(
      `The timeout of the route ${ctx.route?.name ?? ''} passed before its quota was known.`,
    );
  }
  apply(ctx, decision);
  return undefined;
}

function apply(ctx: RequestContext, decision: QuotaDecision): void {
  ctx.quota = decision;
  if (decision.granted) return;
  if (decision.unavailable === true) {
    const route = ctx.route?.name ?? '';
    const cause =
      decision.bound === undefined
        ? `can lease no more of the quota of the route ${route} from NATS now`
        : `cannot store the quota of a new caller of the route ${route}, because ${describeBound(decision.bound)}`;
    throw unavailable(`This data plane ${cause}, and has no share of it left.`);
  }
  const windowSeconds = (ctx.route?.quota.windowMs ?? 0) / 1000;
  throw new GatewayError(
    'rate_limit_exceeded',
    `The quota of the route ${ctx.route?.name ?? ''} is used up: ${decision.limit} requests ` +
      `in ${windowSeconds} seconds.`,
    { headers: { 'retry-after': String(decision.resetSeconds) } },
  );
}

function unavailable(message: string): GatewayError {
  return new GatewayError('quota_unavailable', message, { headers: { 'retry-after': '1' } });
}
