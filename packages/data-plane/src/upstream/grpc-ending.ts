import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { Clock } from '@gateway/shared/clock';
import { grpcFailureName } from '@gateway/shared/http/grpc-status';
import { MessageSizes } from '../request/message-sizes.ts';
import type { RequestContext } from '../request/context.ts';
import type { BreakReason, ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import { grpcVerdict, type AttemptEnd, type CountedVerdict } from './attempt-end.ts';
import type { ServiceBalancer } from './health/service-balancer.ts';
import { responseStatus } from '../request/grpc-response-status.ts';

/** A response that has run for this long shows that its upstream works, whatever its end will say. */
const LONG_MS = 1000;

/** What learns how an attempt ended: the index of the upstream, and what `begin` of the balancer returned for it. */
export interface JudgedAttempt {
  readonly balancer: Pick<ServiceBalancer, 'ended'>;
  readonly index: number;
  readonly probe: number;
}

/**
 * How the attempt at a gRPC call ended. If the head is the whole response, it has the status, which the context gets too.
 *
 * @param last whether there is no body
 */
export function grpcHead(
  ctx: RequestContext,
  response: UpstreamResponse,
  last: boolean,
): AttemptEnd & { readonly response: UpstreamResponse } {
  if (!last) return { response, isOpen: true };
  const grpcStatus = responseStatus(response.status, response.fields);
  ctx.grpcStatus = grpcStatus;
  return { response, grpcStatus };
}

/**
 * Notes how a response ended that is more than a head, for the context and its last attempt.
 *
 * @param status that of HTTP
 * @returns as `responseStatus`
 */
export function noteEnd(
  ctx: RequestContext,
  status: number,
  trailers: HeaderFields | undefined,
): number | undefined {
  const grpcStatus = responseStatus(status, trailers);
  const attempt = ctx.attempts.at(-1);
  ctx.grpcStatus = grpcStatus;
  if (grpcStatus !== undefined && attempt !== undefined) attempt.grpc_status = grpcStatus;
  return grpcStatus;
}

/**
 * Receives the rest of the response to a gRPC call whose head is not all of it.
 *
 * @param status that of HTTP
 * @param sink what receives it from there; undefined: nobody wants it
 */
export function grpcEnding(
  ctx: RequestContext,
  status: number,
  sink: ResponseSink | undefined,
  judged: JudgedAttempt,
  clock: Pick<Clock, 'monotonicMs'>,
): ResponseSink | undefined {
  // The verdict on a response that is no gRPC is given.
  if (status >= 400) return sink;
  if (sink === undefined) {
    judged.balancer.ended(judged.index, judged.probe, 'nothing');
    return undefined;
  }
  return new GrpcEnding(ctx, status, sink, judged, clock);
}

/**
 * Passes on the response to a gRPC call, and notes the status with which it ends: the fields after the messages say
 * whether the call has succeeded. So the upstream is judged then.
 */
class GrpcEnding implements ResponseSink {
  readonly #ctx: RequestContext;
  readonly #status: number;
  readonly #sink: ResponseSink;
  readonly #judged: JudgedAttempt;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #beganMs: number;
  readonly #messages = new MessageSizes(Infinity);
  #isJudged = false;

  constructor(
    ctx: RequestContext,
    status: number,
    sink: ResponseSink,
    judged: JudgedAttempt,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#ctx = ctx;
    this.#status = status;
    this.#sink = sink;
    this.#judged = judged;
    this.#clock = clock;
    this.#beganMs = clock.monotonicMs();
    ctx.grpcMessages = this.#messages;
    // If the caller leaves, or the upstream breaks off, the end says nothing.
    ctx.onFinish(() => {
      if (!this.#isJudged) this.#judge('nothing');
    });
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (last) this.#ended(trailers);
    else {
      this.#messages.fits(bytes);
      if (!this.#isJudged) this.#judgeIfLong();
    }
    this.#sink.data(bytes, last, trailers);
  }

  #ended(trailers: HeaderFields | undefined): void {
    const grpcStatus = noteEnd(this.#ctx, this.#status, trailers);
    if (grpcStatus === undefined) {
      this.#judge('good');
      return;
    }
    const verdict = grpcVerdict(grpcStatus);
    this.#judge(verdict, verdict === 'good' ? undefined : grpcFailureName(grpcStatus));
  }

  #judgeIfLong(): void {
    if (this.#clock.monotonicMs() - this.#beganMs >= LONG_MS) this.#judge('good');
  }

  /** A long response is judged twice: that it goes on, and how it ended. Only the first verdict is that of a probe. */
  #judge(verdict: CountedVerdict, detail?: string): void {
    const { balancer, index, probe } = this.#judged;
    balancer.ended(index, this.#isJudged ? 0 : probe, verdict, detail);
    this.#isJudged = true;
  }

  /** The end has not come with the head. A half-open upstream would get no other request until then. */
  delivered(): void {
    if (this.#judged.probe !== 0) this.#judge('good');
    this.#sink.delivered();
  }

  stalled(): void {
    this.#sink.stalled();
  }

  broken(why: BreakReason): void {
    this.#sink.broken(why);
  }
}
