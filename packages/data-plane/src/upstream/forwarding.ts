import type { ForwardedFields } from '@gateway/http/message/message-writer';
import type { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import { grpcEnding, grpcHead } from './grpc-ending.ts';
import type { RequestContext } from '../request/context.ts';
import { attemptHasEnded, canBeSent, withAnnouncement } from '../request/outbound-body.ts';
import {
  addedFields,
  attemptFields,
  outboundRequest,
  passedFields,
  retryHeaders,
} from '../request/outbound-headers.ts';
import type { TakenBody } from '../request/request-body.ts';
import { isStream, StreamProgress } from '../request/stream-progress.ts';
import type {
  ResponseReceiver,
  ResponseSink,
  UpstreamResponse,
} from '../request/upstream-response.ts';
import type {
  CompiledRoute,
  CompiledService,
  CompiledUpstream,
} from '../routing-table/routing-table.ts';
import {
  attemptDetail,
  endWait,
  verdictOf,
  type AttemptEnd,
  type AttemptError,
} from './attempt-end.ts';
import { endAtCallerDeadline } from './caller-deadline.ts';
import {
  assertStillNeeded,
  finalError,
  hasFailed,
  queueRefusal,
  recordAttempt,
  recordRetry,
  refusalOf,
  unlessSent,
} from './attempt-outcome.ts';
import type { ForwardingOptions } from './forwarding-options.ts';
import { bodyOfAttempts, takeBody } from './forwarded-body.ts';
import { backOff, planRetry } from './plan-retry.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { ServiceBalancer } from './health/service-balancer.ts';
import type { AttemptHandler, AttemptTimes } from './upstream-client.ts';

/** That of a request without one, and of every request until its body is taken. */
const NO_BODY: TakenBody = { kind: 'kept', bytes: null };
/** Shared by all requests, so that a first attempt makes no set. */
const NONE_TRIED: ReadonlySet<number> = new Set();

/**
 * The attempts of one request, one after the other. It is one object with methods, not an async function with a loop,
 * because everything that a waiting request keeps in memory makes the pauses of the garbage collector longer.
 */
export class Forwarding implements AttemptHandler {
  readonly #ctx: RequestContext;
  readonly #route: CompiledRoute;
  readonly #service: CompiledService;
  readonly #budget: RetryBudget;
  readonly #options: ForwardingOptions;
  readonly #upgrade: 'websocket' | undefined;
  readonly #receiver: ResponseReceiver;
  readonly #balancer: ServiceBalancer;
  /** undefined: `timeout_ms` bounds the time until the response begins. */
  readonly stream: StreamProgress | undefined = undefined;
  #body = NO_BODY;
  #fields: readonly string[] = [];
  /** The other fields. */
  #passed: readonly ForwardedFields[] = [];
  /** undefined: the service has no adaptive limit, or this request is not measured. */
  #adaptive: AdaptiveLimit | undefined = undefined;
  #tried = NONE_TRIED;
  #retriesMade = 0;
  /** How often it was sent again without being counted as a retry. */
  #resends = 0;
  /** Of the current attempt: its upstream, what the balancer gave for it, when it started, and how long it may take. */
  #index = -1;
  #probe = 0;
  #startedMs = 0;
  #timeoutMs = 0;
  #attempt: { cancel(): void } | undefined = undefined;

  constructor(
    ctx: RequestContext,
    route: CompiledRoute,
    service: CompiledService,
    budget: RetryBudget,
    options: ForwardingOptions,
    upgrade: 'websocket' | undefined,
    receiver: ResponseReceiver,
  ) {
    this.#ctx = ctx;
    this.#route = route;
    this.#service = service;
    this.#budget = budget;
    this.#options = options;
    this.#upgrade = upgrade;
    this.#receiver = receiver;
    this.#balancer = options.balancers.of(service);
    if (route.settings.streaming && isStream(ctx)) this.stream = new StreamProgress(options.clock);
  }

  get bodyIdleTimeoutMs(): number | null {
    return this.#route.settings.body_idle_timeout_ms;
  }

  /** Passes a response to the receiver as soon as its head has arrived, after as many attempts as needed. */
  start(): void {
    this.#try(() => {
      const ctx = this.#ctx;
      const { clock } = this.#options;
      if (ctx.callerDeadlineMs < Infinity) endAtCallerDeadline(ctx, this.#receiver, clock, this);
      const { empty } = ctx.body;
      const body = empty ? NO_BODY : takeBody(ctx, this.#route, this.#options, this.stream);
      if (body instanceof Promise) void this.#beginLater(body);
      else this.#begin(body);
    });
  }

  /** Whatever throws is the end of the request. */
  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#receiver.failed(error);
    }
  }

  async #beginLater(pending: Promise<TakenBody>): Promise<void> {
    try {
      this.#begin(await pending);
    } catch (error) {
      this.#receiver.failed(error);
    }
  }

  #begin(body: TakenBody): void {
    const ctx = this.#ctx;
    const { kind } = ctx.framing;
    this.#body =
      kind === 'none' ? body : bodyOfAttempts(ctx, this.#route, this.#service, this.#options, body);
    this.#passed = passedFields(ctx);
    const added = addedFields(ctx);
    this.#fields = kind === 'chunked' ? withAnnouncement(added, ctx, this.#body) : added;
    // A body that streams may wait for its caller, and the head of a stream for its first message.
    const waitsForCaller = body.kind !== 'kept' || this.stream !== undefined;
    if (!waitsForCaller && this.#service.limits.adaptive) {
      this.#adaptive = this.#options.adaptiveLimits.of(this.#service.id);
    }
    this.#beginAttempt();
  }

  /** The caller has left, or its time is over. */
  cancel(): void {
    this.#attempt?.cancel();
  }

  #beginAttempt(): void {
    const ctx = this.#ctx;
    const service = this.#service;
    const balancer = this.#balancer;
    const { regions } = this.#route.settings;
    this.#index =
      ctx.affinity?.choose(balancer, regions, this.#tried, this.#index) ??
      balancer.choose(regions, this.#tried);
    const upstream = service.upstreams[this.#index];
    if (upstream === undefined) throw new Error(`service ${service.id} has no upstream`);
    this.#startedMs = this.#options.clock.monotonicMs();
    assertStillNeeded(ctx, this.#startedMs);
    if (this.#adaptive?.begin() === false) {
      const { limit } = this.#adaptive;
      recordRetry(ctx, { retry: false, why: 'service_overloaded' });
      const refusal = this.#options.overloads.refuseForService(service, 'adaptive', limit);
      throw unlessSent(ctx, refusal);
    }
    if (this.#retriesMade > 0) this.#budget.liveRetries += 1;
    if (this.#tried !== NONE_TRIED) this.#fields = retryHeaders(ctx, this.#fields);
    ctx.times.enter('connection', this.#startedMs);
    this.#probe = this.#balancer.begin(this.#index);
    const { perAttemptTimeoutMs = Infinity } = this.#route.retry;
    this.#timeoutMs = Math.max(1, Math.min(ctx.deadlineMs - this.#startedMs, perAttemptTimeoutMs));
    const fields = attemptFields(ctx, this.#fields, this.#startedMs);
    const request = outboundRequest(
      ctx,
      upstream,
      { fields, passed: this.#passed, upgrade: this.#upgrade },
      this.#body,
      this.#receiver,
    );
    ctx.upstream = upstream;
    // A request with an idempotency key continues without its caller, so that its outcome is known.
    ctx.whenClientGone(ctx.capture === undefined ? this : undefined);
    this.#attempt = this.#options.upstreams.begin(
      upstream,
      request,
      this.#timeoutMs,
      this,
      ctx.holdsKey,
      ctx.times,
    );
  }

  responded(response: UpstreamResponse & AttemptTimes, last: boolean): ResponseSink | undefined {
    try {
      const outcome = this.#ctx.inbound.isGrpc ? grpcHead(this.#ctx, response, last) : { response };
      const retryDelayMs = this.#ended(outcome, response);
      if (this.#body !== NO_BODY) attemptHasEnded(this.#body, retryDelayMs !== undefined);
      if (retryDelayMs !== undefined) {
        void this.#retry(retryDelayMs);
        return undefined;
      }
      const { affinity, upstream } = this.#ctx;
      if (affinity && upstream) response.fields = affinity.outward(response.fields, upstream);
    } catch (error) {
      this.#receiver.failed(error);
      return undefined;
    }
    const sink = this.#receiver.responded(response, last);
    if (last || !this.#ctx.inbound.isGrpc) return sink;
    const judged = { balancer: this.#balancer, index: this.#index, probe: this.#probe };
    return grpcEnding(this.#ctx, response.status, sink, judged, this.#options.clock);
  }

  failed(error: AttemptError, times: AttemptTimes): void {
    this.#try(() => {
      const retryDelayMs = this.#ended({ error }, times);
      if (this.#body !== NO_BODY) attemptHasEnded(this.#body, retryDelayMs !== undefined);
      if (retryDelayMs === undefined) {
        const nowMs = this.#options.clock.monotonicMs();
        throw (
          refusalOf(this.#ctx, this.#service, error, nowMs, this.#options) ??
          finalError(this.#ctx, this.#body, error, nowMs)
        );
      }
      void this.#retry(retryDelayMs);
    });
  }

  /** Returns the delay of the next attempt, or undefined if this was the last one. */
  #ended(outcome: AttemptEnd, times: AttemptTimes): number | undefined {
    const ctx = this.#ctx;
    const upstream = ctx.upstream as CompiledUpstream;
    const startedMs = this.#startedMs;
    const endedMs = this.#options.clock.monotonicMs();
    ctx.times.enter('gateway', endedMs);
    if (this.#adaptive !== undefined) {
      const waitedMs = endedMs - startedMs - times.connectionWaitMs;
      endWait(this.#adaptive, outcome, waitedMs, endedMs, endedMs >= ctx.callerDeadlineMs);
    }
    recordAttempt(ctx, upstream, outcome, startedMs, endedMs);
    if (this.#retriesMade > 0) this.#budget.liveRetries -= 1;
    if (!hasFailed(outcome)) {
      if (outcome.isOpen !== true) this.#balancer.ended(this.#index, this.#probe, 'good');
      return undefined;
    }
    const shortCheckMs = () => this.#balancer.shortCheckMs(this.#index);
    const verdict = verdictOf(outcome, times.upstreamMs, this.#route, shortCheckMs);
    const detail = verdict === 'good' ? undefined : attemptDetail(outcome);
    this.#balancer.ended(this.#index, this.#probe, verdict, detail);
    if (outcome.error?.name === 'max_pending') {
      recordRetry(ctx, { retry: false, why: 'service_overloaded' });
      throw queueRefusal(ctx, this.#service, upstream, this.#options);
    }
    const plan = this.#planRetry(outcome);
    if (!plan.retry) return undefined;
    if (plan.uncounted === true) this.#resends += 1;
    else this.#retriesMade += 1;
    return plan.delayMs;
  }

  #planRetry(outcome: AttemptEnd) {
    const state = {
      bodyKept: canBeSent(this.#body),
      retriesMade: this.#retriesMade,
      resends: this.#resends,
      hasAlternative:
        outcome.error !== undefined &&
        this.#ctx.affinity?.staysPut !== true &&
        this.#balancer.hasOther(this.#tried, this.#index),
    };
    return planRetry(this.#ctx, this.#route, outcome, state, this.#budget, this.#options);
  }

  async #retry(delayMs: number): Promise<void> {
    this.#tried = new Set(this.#tried).add(this.#index);
    try {
      await backOff(this.#ctx, delayMs, this.#budget, this.#options.clock);
    } catch (error) {
      this.#receiver.failed(error);
      return;
    }
    this.#try(() => {
      this.#beginAttempt();
    });
  }
}
