import type { Clock } from '@gateway/shared/clock';
import type { RequestContext } from '../request/context.ts';
import { outboundHeaders } from '../request/outbound-headers.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { TakenBody } from '../request/request-body.ts';
import type { Reply, Stage } from '../request/stage.ts';
import { takeBody } from '../request/take-body.ts';
import { callerSends, finalError, recordAttempt } from './attempt.ts';
import { attemptVerdict, hasFairTime } from './health/attempt-verdict.ts';
import type { ServiceBalancers } from './health/service-balancer.ts';
import { assertAwaited, backOff, nextDelayMs } from './next-attempt.ts';
import type { AttemptOutcome, UpstreamClient } from './port.ts';
import type { ClientRequest } from '@gateway/http1/client/request-writer';
import { announcedLength } from '@gateway/http1/message/framing';
import { mayRepeat } from './retry.ts';
import type { ServiceLoad, ServiceLoads } from './service-load.ts';
import type {
  CompiledRoute,
  CompiledService,
  CompiledUpstream,
} from '../routing-table/routing-table.ts';

export interface ForwardOptions {
  readonly upstreams: UpstreamClient;
  readonly balancers: ServiceBalancers;
  readonly loads: ServiceLoads;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** The largest request body that is kept so that a retry can send it again. */
  readonly retryBodyBytes: number;
}

/** A body whose length is announced is kept up to this size even if no retry needs it: that is cheaper. */
const SMALL_BODY_BYTES = 64 * 1024;

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
    const load = options.loads.enter(service.id);
    const leave = () => options.loads.leave(service.id, load);
    const reply = forward(ctx, route, service, load, options, upgrade);
    if (upgrade !== undefined) return reply.finally(leave);
    ctx.onFinish(leave);
    return reply;
  };
}

async function forward(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  load: ServiceLoad,
  options: ForwardOptions,
  upgrade: 'websocket' | undefined,
): Promise<Reply> {
  const { clock } = options;
  const taken = ctx.takenBody ?? takeForRetries(ctx, route, options);
  const body = taken instanceof Promise ? await taken : taken;
  const fields = outboundHeaders(ctx);
  const balancer = options.balancers.of(service);
  let tried = NONE_TRIED;
  for (let retriesMade = 0; ; retriesMade += 1) {
    const index = balancer.choose(route.settings.regions, tried);
    const upstream = service.upstreams[index];
    if (upstream === undefined) throw new Error(`service ${service.id} has no upstream`);
    const startedMs = clock.monotonicMs();
    assertAwaited(ctx, startedMs);
    if (retriesMade > 0) load.liveRetries += 1;
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
    const outcome = await attempt(ctx, upstream, request, timeoutMs, options);
    recordAttempt(ctx, upstream, outcome, startedMs, clock.monotonicMs());
    if (retriesMade > 0) load.liveRetries -= 1;
    const timed = !callerSends(body) && hasFairTime(timeoutMs, route);
    balancer.ended(index, probe, attemptVerdict(outcome, timed));
    // A good response needs no retry decision.
    if (outcome.response !== undefined && outcome.response.status < 400) {
      return { response: outcome.response };
    }

    const bodyKept = body.kind === 'kept' || !(body.stream.begun || body.stream.destroyed);
    const elsewhere = outcome.error !== undefined && balancer.hasOther(tried, index);
    const known = { bodyKept, retriesMade, elsewhere };
    const delayMs = nextDelayMs(ctx, route, outcome, known, load, options);
    if (delayMs === undefined) {
      if (outcome.response !== undefined) return { response: outcome.response };
      throw finalError(ctx, body, outcome.error, clock.monotonicMs());
    }
    outcome.response?.cancel();
    tried = new Set(tried).add(index);
    await backOff(ctx, delayMs, load, clock);
  }
}

function takeForRetries(
  ctx: RequestContext,
  route: CompiledRoute,
  options: ForwardOptions,
): TakenBody | Promise<TakenBody> {
  const hasKey = ctx.inbound.idempotencyKey !== undefined;
  const kept = route.settings.retry_count > 0 && mayRepeat(ctx.method, hasKey, route.retry);
  const limits = {
    maxBytes: route.settings.max_body_bytes,
    keepBytes: kept
      ? options.retryBodyBytes
      : ctx.framing.kind === 'chunked'
        ? 0
        : SMALL_BODY_BYTES,
    deadlineMs: ctx.deadlineMs,
  };
  return takeBody(ctx, limits, options.clock);
}

/** The time that an attempt which begins now has for the head of its response, ms. */
function attemptTimeoutMs(ctx: RequestContext, route: CompiledRoute, nowMs: number): number {
  const remainingMs = Math.max(1, ctx.deadlineMs - nowMs);
  return Math.min(remainingMs, route.retry.perAttemptTimeoutMs ?? Infinity);
}

function attempt(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  request: ClientRequest,
  timeoutMs: number,
  options: ForwardOptions,
): Promise<AttemptOutcome> {
  const begun = options.upstreams.begin(upstream, request, timeoutMs);
  ctx.upstream = upstream;
  // A request that holds an idempotency key runs to its end without its caller, so that its outcome is known.
  ctx.whenClientGone(ctx.capture === undefined ? () => begun.cancel() : undefined);
  return begun.outcome;
}
