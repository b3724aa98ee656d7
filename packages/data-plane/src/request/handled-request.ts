import type { End, ServerExchange, ServerExchangeHandler } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { ClientLeftError } from './client-left-error.ts';
import { RequestContext, type Cancellable } from './context.ts';
import { reasonOf } from './end-codes.ts';
import { hintFields } from './end-to-end-fields.ts';
import { endEarly, lateEnd, noteBreak, statusInTrailers, type BreakError } from './grpc-break.ts';
import type { HandlerOptions, RequestHandler } from './handler-options.ts';
import { finishRequest } from './in-flight.ts';
import { IncomingBody } from './incoming-body.ts';
import { respondWithError, toGatewayError } from './error-reply.ts';
import { respondWith } from './reply.ts';
import { runStages, type Handling, type Reply } from './stage.ts';
import type {
  BreakReason,
  ResponseReceiver,
  ResponseSink,
  UpstreamResponse,
} from './upstream-response.ts';

export function createHandler(handling: Handling, options: HandlerOptions): RequestHandler {
  return (exchange, reached) => {
    const { head } = exchange;
    const ctx = new RequestContext(exchange, reached, options.contextOptions);
    if (head.framing.kind !== 'none') {
      const { expectContinue } = ctx.inbound;
      ctx.body = new IncomingBody(exchange, expectContinue, ctx.times, options.contextOptions);
    }
    if (handling.openTunnel !== undefined) ctx.leavesHttp = true;
    options.inFlight.enter();
    new HandledRequest(ctx, exchange, handling, options).run();
  };
}

/**
 * The life of a request, from its head to its record: the stages decide, what forwards it gives the response, which is
 * sent to the caller as it arrives, and then it is finished. From the head of the upstream's response to that of the
 * caller's there are only calls.
 *
 * It is one object with methods, not an async function, because everything that a waiting request keeps in memory makes
 * the pauses of the garbage collector longer. Whatever calls its methods gets no exception of it, except `data`.
 */
class HandledRequest implements ServerExchangeHandler, ResponseReceiver, ResponseSink {
  readonly #ctx: RequestContext;
  readonly #exchange: ServerExchange;
  readonly #handling: Handling;
  readonly #options: HandlerOptions;
  /** A request is over when its stages have settled and nothing more is sent on the connection. */
  #pendingParts = 2;
  /** While its head is sent, and its end is not. */
  #response: UpstreamResponse | undefined = undefined;
  /** Whether the body did not arrive with its head. */
  #isStreaming = false;
  /** Whether the caller takes no more for now. */
  #isBlocked = false;

  constructor(
    ctx: RequestContext,
    exchange: ServerExchange,
    handling: Handling,
    options: HandlerOptions,
  ) {
    this.#ctx = ctx;
    this.#exchange = exchange;
    this.#handling = handling;
    this.#options = options;
  }

  run(): void {
    this.#exchange.handler = this;
    let decided: ReturnType<typeof runStages>;
    try {
      decided = runStages(this.#handling.stages, this.#ctx);
    } catch (error) {
      this.failed(error);
      return;
    }
    if (decided instanceof Promise) {
      void decided.then(
        (reply) => {
          this.#continue(reply);
        },
        (error: unknown) => {
          this.failed(error);
        },
      );
    } else this.#continue(decided);
  }

  /** Answers as a stage says, or forwards the request. */
  #continue(reply: Reply | undefined): void {
    try {
      if (reply === undefined) {
        this.#handling.forward(this.#ctx, this);
        return;
      }
      if (!this.#ctx.clientGone) {
        respondWith(this.#ctx, this.#exchange, reply, this.#options.respond);
      }
    } catch (error) {
      this.failed(error);
      return;
    }
    this.#settled();
  }

  /** Hints are no response: the account of time, the record and a capture know nothing of them. */
  hints(fields: HeaderFields): void {
    if (!this.#exchange.sendInterim(103, hintFields(fields, this.#ctx))) {
      this.#options.hintsDropped();
    }
  }

  /** An upstream has responded: its head goes to the caller. */
  responded(response: UpstreamResponse, last: boolean): ResponseSink | undefined {
    let sink: ResponseSink | undefined;
    try {
      sink = this.#passOn(response, last);
    } catch (error) {
      this.#abandon(error);
    }
    this.#settled();
    return sink;
  }

  #passOn(response: UpstreamResponse, last: boolean): ResponseSink | undefined {
    const ctx = this.#ctx;
    const capture = ctx.capture?.(response, this);
    let isPassed = !ctx.clientGone;
    if (isPassed) {
      try {
        this.#passHead(response, capture ?? response, last && capture === undefined);
      } catch (error) {
        isPassed = false;
        this.#refuse(error);
      }
    }
    if (!isPassed) capture?.cancel();
    if (last) capture?.data('', true);
    if (!isPassed) return capture;
    if (response.status === 101) return this.#openTunnel(response);
    return capture ?? this;
  }

  #openTunnel(upstream: UpstreamResponse): ResponseSink | undefined {
    return this.#handling.openTunnel?.(this.#ctx, this.#exchange, upstream, this);
  }

  #passHead(response: UpstreamResponse, forCaller: Cancellable, last: boolean): void {
    const ctx = this.#ctx;
    const { status, statusText } = response;
    const added = this.#handling.addFields(ctx, status);
    const passed = this.#handling.passFields(ctx, response);
    ctx.whenClientGone(last ? undefined : forCaller);
    if (!last) ctx.times.enterAtOnce('upstream');
    this.#exchange.respond(status, statusText, added, last, passed);
    if (!last) this.#response = response;
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.#ctx.responseBytes += bytes.length;
    const passed = trailers === undefined ? undefined : this.#passTrailers(trailers);
    if (last) this.#upstreamEnded();
    if (this.#exchange.send(bytes, last, passed) || last) return;
    this.#response?.pause();
    this.#block(true);
  }

  #passTrailers(trailers: HeaderFields): HeaderFields | undefined {
    const response = this.#response;
    return response && this.#handling.passTrailers?.(this.#ctx, response, trailers);
  }

  delivered(): void {
    this.#isStreaming = true;
    this.#exchange.flush();
  }

  /** Its end cancels the response, as that of a caller that leaves does. A caller that does not read gets no status. */
  stalled(): void {
    const ctx = this.#ctx;
    const trailers = this.#isBlocked ? undefined : this.#statusOf(lateEnd(ctx), this.#response);
    if (trailers !== undefined) {
      ctx.clientLeft('timed_out');
      this.#upstreamEnded();
    }
    endEarly(this.#exchange, trailers, 'timed_out');
  }

  expired(attempts: Cancellable): void {
    const { connection, hasResponded } = this.#exchange;
    const ctx = this.#ctx;
    if (hasResponded) ctx.errorCode ??= 'upstream_timeout';
    connection.guard.run(() => {
      if (hasResponded) this.stalled();
      else attempts.cancel();
    }, ctx);
  }

  /** The body must not look complete (RFC 9112 section 8). It also breaks off if the rest of the request has failed. */
  broken(why: BreakReason): void {
    const response = this.#response;
    let trailers: HeaderFields | undefined;
    try {
      this.#upstreamEnded();
      trailers = this.#statusOf(noteBreak(this.#ctx, why), response);
    } finally {
      endEarly(this.#exchange, trailers, 'cut_short');
    }
  }

  #statusOf(error: BreakError | undefined, response: UpstreamResponse | undefined) {
    return error && response && statusInTrailers(this.#ctx, this.#exchange, response, error);
  }

  #upstreamEnded(): void {
    const ctx = this.#ctx;
    this.#response = undefined;
    // A body that arrived with its head took no extra time.
    if (this.#isStreaming) ctx.times.enter('sending', this.#nowMs());
    else ctx.times.enterAtOnce('sending');
    ctx.whenClientGone(undefined);
  }

  /** The caller takes more of the response. */
  writable(): void {
    this.#block(false);
    this.#response?.resume();
  }

  #block(isBlocked: boolean): void {
    if (this.#isBlocked === isBlocked) return;
    this.#isBlocked = isBlocked;
    this.#ctx.times.awaitDrain(isBlocked, this.#nowMs());
  }

  /** A stage refused the request, or it has no response. */
  failed(error: unknown): void {
    try {
      this.#refuse(error);
    } catch (internalError) {
      this.#abandon(internalError);
    }
    this.#settled();
  }

  /** The one place that turns errors into replies. */
  #refuse(error: unknown): void {
    const ctx = this.#ctx;
    const exchange = this.#exchange;
    if (error instanceof ClientLeftError) {
      ctx.clientGone = true;
      exchange.abort('peer_left');
      return;
    }
    const refusal = toGatewayError(ctx, error, this.#options.log);
    if (exchange.hasResponded || exchange.isClosed) exchange.abort('internal_error');
    else respondWithError(ctx, exchange, refusal, this.#options.respond);
  }

  /** Nothing more is sent to the caller. */
  closed(end: End, error?: Error): void {
    try {
      if (error !== undefined) this.#connectionFailed(error);
      if (end !== 'complete') this.#ctx.clientLeft(reasonOf(end));
    } catch (failure) {
      this.#abandon(failure);
    }
    this.#settled();
  }

  #connectionFailed(error: Error): void {
    const { id, trace } = this.#ctx;
    this.#options.log.debug(
      { request_id: id, trace_id: trace.traceId, reason: error.message },
      'response failed',
    );
  }

  /** A part of the request is over. An exception ends the connection; it must not reach what called this. */
  #settled(): void {
    try {
      this.#pendingParts -= 1;
      if (this.#pendingParts > 0) return;
      finishRequest(this.#ctx, this.#options.inFlight, this.#handling.finished);
    } catch (error) {
      this.#abandon(error);
    }
  }

  #abandon(error: unknown): void {
    this.#exchange.connection.guard.fail(error, this.#ctx);
  }

  #nowMs(): number {
    return this.#options.respond.clock.monotonicMs();
  }
}
