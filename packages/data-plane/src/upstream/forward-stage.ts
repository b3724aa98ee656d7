import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import { outboundHeaders, retryHeaders } from '../request/outbound-headers.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { BodyLimits, TakenBody } from '../request/request-body.ts';
import type { Reply, Stage } from '../request/stage.ts';
import { takeBody } from '../request/take-body.ts';
import type { AdaptiveLimits } from '../limits/adaptive-limits.ts';
import type { OverloadRefusals } from '../limits/overload-refusals.ts';
import { endWait, isMeasured } from './adaptive-attempt.ts';
import { finalError, isSending, recordAttempt, recordRetry } from './attempt-outcome.ts';
import { attemptVerdict, hasFairTime } from './health/attempt-verdict.ts';
import type { ServiceBalancers } from './health/service-balancer.ts';
import { assertStillNeeded, backOff, planRetry } from './plan-retry.ts';
import type { AttemptOutcome, UpstreamClient } from './upstream-client.ts';
import type { ClientRequest } from '@gateway/http1/client/request-writer';
import { announcedLength } from '@gateway/http1/message/framing';
import { mayRepeat } from './decide-retry.ts';
import type { RetryBudget, RetryBudgets } from './retry-budget.ts';
import type {
  CompiledRoute,
  CompiledService,
  CompiledUpstream,
} from '../routing-table/routing-table.ts';

export interface ForwardOptions {
  readonly overloads: OverloadRefusals;
  readonly adaptiveLimits: AdaptiveLimits;
  readonly upstreams: UpstreamClient;
  readonly balancers: ServiceBalancers;
  readonly retryBudgets: RetryBudgets;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** The largest request body that is kept so that a retry can send it again. */
  readonly retryBodyBytes: number;
}

/** A body whose length is announced is kept up to this size even if no retry needs it: that is cheaper. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Shared by all requests, so that a first attempt makes no set. */
const NONE_TRIED: ReadonlySet<number> = new Set();

/**
 * Sends the request to an upstream of the route, and to others while the retry decision allows it. Replies with
 * the response as soon as its head has arrived; the body follows.
 *
 * @param upgrade the protocol that the request switches to. A tunnel counts as in flight at its upstream while it
 * is open, but in the retry budget of its service only until it is open.
 */
export function createForward(options: ForwardOptions, upgrade?: 'websocket'): Stage {
  return (ctx) => {
    const { route, version } = ctx;
    if (route === undefined || version === undefined) return undefined;
    const { service } = version;
    const budget = options.retryBudgets.enter(service.id);
    const reply = forward(ctx, route, service, budget, options, upgrade);
    if (upgrade !== undefined) return reply.finally(budget.leave);
    ctx.onFinish(budget.leave);
    return reply;
  };
}

async function forward(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  budget: RetryBudget,
  options: ForwardOptions,
  upgrade: 'websocket' | undefined,
): Promise<Reply> {
  const { clock } = options;
  const taken = ctx.takenBody ?? readBody(ctx, route, options);
  const body = taken instanceof Promise ? await taken : taken;
  let fields = outboundHeaders(ctx);
  const balancer = options.balancers.of(service);
  const adaptive = isMeasured(body) ? options.adaptiveLimits.of(service) : undefined;
  let tried = NONE_TRIED;
  for (let retriesMade = 0; ; retriesMade += 1) {
    const index = balancer.choose(route.settings.regions, tried);
    const upstream = service.upstreams[index];
    if (upstream === undefined) throw new Error(`service ${service.id} has no upstream`);
    const startedMs = clock.monotonicMs();
    assertStillNeeded(ctx, startedMs);
    if (adaptive?.begin() === false) {
      throw notRetried(ctx, options.overloads.ofService(service, 'adaptive', adaptive.limit));
    }
    if (retriesMade > 0) {
      budget.liveRetries += 1;
      fields = retryHeaders(ctx, fields);
    }
    const probe = balancer.begin(index);
    const timeoutMs = attemptTimeoutMs(ctx, route, startedMs);
    const request: ClientRequest = {
      method: ctx.method,
      path: upstreamPath(upstream.basePath, ctx.target.subPath, ctx.target.query),
      fields,
      body: body.kind === 'kept' ? body.bytes : body.stream,
      contentLength: announcedLength(ctx.framing),
      upgrade,
    };
    const outcome = await send(ctx, upstream, request, timeoutMs, options);
    const endedMs = clock.monotonicMs();
    if (adaptive !== undefined) endWait(adaptive, outcome, endedMs - startedMs, endedMs);
    recordAttempt(ctx, upstream, outcome, startedMs, endedMs);
    if (retriesMade > 0) budget.liveRetries -= 1;
    const timeoutCounts = !isSending(body) && hasFairTime(timeoutMs, route);
    balancer.ended(index, probe, attemptVerdict(outcome, timeoutCounts));
    // A good response needs no retry decision.
    if (outcome.response !== undefined && outcome.response.status < 400) {
      return { response: outcome.response };
    }

    if (outcome.error?.name === 'max_pending') {
      const { maxPending, maxConnections } = options.upstreams.poolLimits(upstream);
      const error = options.overloads.ofQueue(service, maxPending, maxConnections);
      throw notRetried(ctx, error);
    }

    const bodyKept = body.kind === 'kept' || !(body.stream.begun || body.stream.destroyed);
    const hasAlternative = outcome.error !== undefined && balancer.hasOther(tried, index);
    const state = { bodyKept, retriesMade, hasAlternative };
    const plan = planRetry(ctx, route, outcome, state, budget, options);
    if (!plan.retry) {
      if (outcome.response !== undefined) return { response: outcome.response };
      throw finalError(ctx, body, outcome.error, clock.monotonicMs());
    }
    outcome.response?.cancel();
    tried = new Set(tried).add(index);
    await backOff(ctx, plan.delayMs, budget, clock);
  }
}

/** The error if the service is overloaded. Not retried: other upstreams are as busy, or not healthy. */
function notRetried(ctx: RequestContext, error: GatewayError): GatewayError {
  recordRetry(ctx, { retry: false, why: 'service_overloaded' });
  // An earlier attempt may have been carried out, and this code would say that nothing was sent.
  return ctx.mayHaveSent
    ? new GatewayError(
        'upstream_unavailable',
        `The request failed. It was not retried: ${error.message}`,
      )
    : error;
}

/** Reads the request body and keeps it if a retry may need it. */
function readBody(
  ctx: RequestContext,
  route: CompiledRoute,
  options: ForwardOptions,
): TakenBody | Promise<TakenBody> {
  return takeBody(ctx, forwardBodyLimits(ctx, route, options), options.clock);
}

/** How much of a body is accepted, and how much of it is kept, if no earlier stage had to read it. */
export function forwardBodyLimits(
  ctx: RequestContext,
  route: CompiledRoute,
  { retryBodyBytes }: Pick<ForwardOptions, 'retryBodyBytes'>,
): BodyLimits {
  const hasKey = ctx.inbound.idempotencyKey !== undefined;
  const kept = route.settings.retry_count > 0 && mayRepeat(ctx.method, hasKey, route.retry);
  const unkept = ctx.framing.kind === 'chunked' ? 0 : SMALL_BODY_BYTES;
  return {
    maxBytes: route.settings.max_body_bytes,
    keepBytes: kept ? retryBodyBytes : unkept,
    deadlineMs: ctx.deadlineMs,
  };
}

/** How long an attempt that starts now may take until the head of its response has arrived, ms. */
function attemptTimeoutMs(ctx: RequestContext, route: CompiledRoute, nowMs: number): number {
  const remainingMs = Math.max(1, ctx.deadlineMs - nowMs);
  return Math.min(remainingMs, route.retry.perAttemptTimeoutMs ?? Infinity);
}

function send(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  request: ClientRequest,
  timeoutMs: number,
  options: ForwardOptions,
): Promise<AttemptOutcome> {
  const begun = options.upstreams.begin(upstream, request, timeoutMs);
  ctx.upstream = upstream;
  // A request with an idempotency key continues without its caller, so that its outcome is known.
  ctx.whenClientGone(ctx.capture === undefined ? begun : undefined);
  return begun.outcome;
}
