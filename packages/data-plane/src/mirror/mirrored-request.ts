import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { Clock, Timer } from '@gateway/shared/clock';
import { grpcFailureName, isGrpcServerError } from '@gateway/shared/http/grpc-status';
import { grpcHead, noteEnd } from '../upstream/grpc-ending.ts';
import type { RequestContext } from '../request/context.ts';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import {
  attemptDetail,
  grpcVerdict,
  verdictOf,
  type AttemptEnd,
  type AttemptError,
} from '../upstream/attempt-end.ts';
import { recordAttempt } from '../upstream/attempt-outcome.ts';
import type { ServiceBalancer } from '../upstream/health/service-balancer.ts';
import type { AttemptHandler, AttemptTimes, UpstreamClient } from '../upstream/upstream-client.ts';
import type { ClientRequest } from '@gateway/http/exchange';

/** How much of a response is read, so that its connection can be used again. The connection of a longer one is closed. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const NONE_TRIED: ReadonlySet<number> = new Set();

export interface MirroredRequestOptions {
  readonly clock: Clock;
  readonly upstreams: UpstreamClient;
}

/** How a copy ended: with a status, as a gRPC call that failed, with an error, or cut off by a stop of the data plane. */
export type MirrorResult = number | `grpc_${string}` | AttemptError['name'] | 'cut_off';

/** One copy on its way: a single attempt, whose response is read and dropped. */
export class MirroredRequest implements AttemptHandler, ResponseSink {
  readonly ctx: RequestContext;
  /** As the data plane says. */
  readonly bodyIdleTimeoutMs = null;
  readonly #balancer: ServiceBalancer;
  readonly #options: MirroredRequestOptions;
  readonly #over: (result: MirrorResult) => void;
  #index = -1;
  #probe = 0;
  #startedMs = 0;
  #attempt: { cancel(): void } | undefined = undefined;
  #response: UpstreamResponse | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #isOver = false;
  #isCutOff = false;

  /** @param over called once, when nothing of it is under way any more */
  constructor(
    ctx: RequestContext,
    balancer: ServiceBalancer,
    options: MirroredRequestOptions,
    over: (result: MirrorResult) => void,
  ) {
    this.ctx = ctx;
    this.#balancer = balancer;
    this.#options = options;
    this.#over = over;
  }

  /** How long it took until the response began, or until there was none, ms. */
  waitedMs = 0;

  /** Chooses the upstream. Returns false if one more copy would take the connections that its requests need. */
  choose(): boolean {
    const { ctx } = this;
    const { upstreams } = this.#options;
    const { service } = this.#balancer;
    this.#index = this.#balancer.choose(ctx.route?.settings.regions ?? [], NONE_TRIED);
    const upstream = service.upstreams[this.#index];
    if (upstream === undefined) throw new Error(`service ${service.id} has no upstream`);
    ctx.upstream = upstream;
    const { maxConnections } = upstreams.poolLimits(upstream);
    return isWithinHalf(upstreams.inFlight(upstream), maxConnections);
  }

  /**
   * Sends the copy to the upstream that is chosen.
   *
   * @param requestTo what is sent to an upstream with this base path
   */
  send(requestTo: (basePath: string) => ClientRequest, timeoutMs: number): void {
    const { ctx } = this;
    const { clock, upstreams } = this.#options;
    const { upstream } = ctx;
    if (upstream === undefined) throw new Error('the copy has no upstream');
    this.#startedMs = clock.monotonicMs();
    ctx.timeoutMs = this.#startedMs - ctx.startedMs + timeoutMs;
    ctx.times.enter('connection', this.#startedMs);
    this.#probe = this.#balancer.begin(this.#index);
    const request = requestTo(upstream.basePath);
    const attempt = upstreams.begin(upstream, request, timeoutMs, this, undefined, ctx.times);
    if (!this.#isOver) this.#attempt = attempt;
  }

  /** An exception has ended it before it was sent. */
  abandon(): void {
    this.#end('internal_error');
  }

  /** The data plane stops, and waits for no copy. */
  cutOff(): void {
    if (this.#isOver) return;
    this.#isCutOff = true;
    const response = this.#response;
    if (response === undefined) this.#attempt?.cancel();
    else {
      response.cancel();
      this.#end(response.status);
    }
  }

  responded(response: UpstreamResponse & AttemptTimes, last: boolean): ResponseSink | undefined {
    const { ctx } = this;
    this.#answered(ctx.inbound.isGrpc ? grpcHead(ctx, response, last) : { response }, response);
    ctx.status = response.status;
    if (last) {
      this.#end(response.status);
      return undefined;
    }
    const { clock } = this.#options;
    this.#response = response;
    const leftMs = Math.max(1, ctx.deadlineMs - clock.monotonicMs());
    this.#timer = clock.setTimer(leftMs, () => this.#giveUp());
    return this;
  }

  failed(error: AttemptError, times: AttemptTimes): void {
    const { ctx } = this;
    this.#answered({ error }, times);
    const timedOut = error.name === 'attempt_timeout';
    if (error.name !== 'cancelled') {
      ctx.errorCode = timedOut ? 'upstream_timeout' : 'upstream_unavailable';
    }
    this.#end(error.name);
  }

  /** The attempt has ended for the health of its upstream. */
  #answered(outcome: AttemptEnd, times: AttemptTimes): void {
    const { ctx } = this;
    const { route, upstream } = ctx;
    if (route === undefined || upstream === undefined) return;
    const endedMs = this.#options.clock.monotonicMs();
    this.waitedMs = endedMs - this.#startedMs;
    ctx.firstByteMs = this.waitedMs;
    ctx.times.enter('upstream', endedMs);
    recordAttempt(ctx, upstream, outcome, this.#startedMs, endedMs);
    const shortCheckMs = () => this.#balancer.shortCheckMs(this.#index);
    const verdict = verdictOf(outcome, times.upstreamMs, route, shortCheckMs);
    const detail = verdict === 'good' ? undefined : attemptDetail(outcome);
    this.#balancer.ended(this.#index, this.#probe, verdict, detail);
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    const { ctx } = this;
    ctx.responseBytes += bytes.length;
    if (last && ctx.inbound.isGrpc) this.#grpcEnded(trailers);
    if (last) this.#end(ctx.status ?? 0);
    else if (ctx.responseBytes > MAX_RESPONSE_BYTES) this.#giveUp();
  }

  /** The head counted as good. */
  #grpcEnded(trailers: HeaderFields | undefined): void {
    const { ctx } = this;
    const grpcStatus = noteEnd(ctx, ctx.status ?? 0, trailers);
    if (grpcStatus === undefined || grpcVerdict(grpcStatus) !== 'bad') return;
    this.#balancer.ended(this.#index, 0, 'bad', grpcFailureName(grpcStatus));
  }

  delivered(): void {
    // Whatever arrives is dropped.
  }

  stalled(): void {
    this.#giveUp();
  }

  broken(): void {
    this.ctx.upstreamBroke = true;
    this.#end(this.ctx.status ?? 0);
  }

  /** The rest of the response is not worth more time. */
  #giveUp(): void {
    if (this.#isOver) return;
    this.#response?.cancel();
    this.#end(this.ctx.status ?? 0);
  }

  #end(result: MirrorResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#attempt = undefined;
    this.#response = undefined;
    this.#over(this.#isCutOff ? 'cut_off' : (this.#grpcFailure ?? result));
  }

  /** undefined: it is no gRPC call, or one that has not failed. */
  get #grpcFailure(): `grpc_${string}` | undefined {
    const { grpcStatus } = this.ctx;
    const isFailure = grpcStatus !== undefined && isGrpcServerError(grpcStatus);
    return isFailure ? grpcFailureName(grpcStatus) : undefined;
  }
}

/** Whether one more copy leaves the other half of a limit to requests that somebody waits for. */
export function isWithinHalf(count: number, max: number): boolean {
  return (count + 1) * 2 <= max;
}
