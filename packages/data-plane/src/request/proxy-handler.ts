import type { End, ServerExchange, ServerExchangeHandler } from '@gateway/http1/exchange';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { ClientLeftError } from './client-left-error.ts';
import type { EndReason } from '@gateway/http1/connection-guard';
import type { RequestContext } from './context.ts';
import { CODE_OF_END } from './end-codes.ts';
import { respondWithError, respondWithUpstream, type RespondOptions } from './reply.ts';
import { runStages, type NamedStage, type Reply } from './stage.ts';
import type { UpstreamResponse } from './upstream-response.ts';
import { createContext, type ContextOptions } from './create-context.ts';
import type { InFlight } from './in-flight.ts';
import { finishRequest } from './request-end.ts';

export interface ProxyHandlerOptions {
  readonly stages: readonly NamedStage[];
  readonly contextOptions: ContextOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
  /** Called once for each request, when it is over. */
  readonly finished: (ctx: RequestContext) => void;
}

export type ProxyHandler = (exchange: ServerExchange, path: string, query: string) => void;

/** Handles the requests of the data path: the stages, then the response, then the record. */
export function createProxyHandler(options: ProxyHandlerOptions): ProxyHandler {
  return (exchange, path, query) => {
    const ctx = createContext(exchange, path, query, options.contextOptions);
    options.inFlight.enter();
    new ProxiedRequest(ctx, exchange, options).run();
  };
}

/**
 * A request on its way through the stages. It is one object with methods, not an async function, because everything that
 * a waiting request keeps in memory makes the pauses of the garbage collector longer.
 */
class ProxiedRequest implements ServerExchangeHandler {
  readonly #ctx: RequestContext;
  readonly #exchange: ServerExchange;
  readonly #options: ProxyHandlerOptions;
  #writable: (() => void) | undefined = undefined;
  /** A request is over when its stages have settled and nothing more is sent on the connection. */
  #pendingParts = 2;

  constructor(ctx: RequestContext, exchange: ServerExchange, options: ProxyHandlerOptions) {
    this.#ctx = ctx;
    this.#exchange = exchange;
    this.#options = options;
  }

  run(): void {
    this.#exchange.handler = this;
    let replied: ReturnType<typeof runStages>;
    try {
      replied = runStages(this.#options.stages, this.#ctx);
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (replied instanceof Promise) {
      void replied.then(
        (reply) => this.#replied(reply),
        (error: unknown) => this.#failed(error),
      );
    } else this.#replied(replied);
  }

  #replied(reply: Reply | undefined): void {
    try {
      if (reply === undefined) throw new Error('no stage answered the request');
      this.#passOn(reply.response);
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#settled();
  }

  #failed(error: unknown): void {
    try {
      this.#answer(error);
    } catch (internalError) {
      this.#abandon(internalError);
    }
    this.#settled();
  }

  /** A part of the request is over. An exception ends the connection; it must not reach what called this. */
  #settled(): void {
    try {
      this.#settlePart();
    } catch (error) {
      this.#abandon(error);
    }
  }

  #abandon(error: unknown): void {
    this.#exchange.connection.guard.fail(error, this.#ctx);
  }

  #passOn(received: UpstreamResponse): void {
    const ctx = this.#ctx;
    const upstream = ctx.capture === undefined ? received : ctx.capture(received);
    if (ctx.clientGone) {
      upstream.cancel();
      return;
    }
    try {
      this.#writable = respondWithUpstream(ctx, this.#exchange, upstream, this.#options.respond);
    } catch (error) {
      // Otherwise the upstream connection would wait for a reader forever.
      upstream.cancel();
      throw error;
    }
  }

  /** The one place that turns errors into replies. */
  #answer(error: unknown): void {
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

  /** The caller takes more of the response. */
  writable(): void {
    this.#writable?.();
  }

  /** Nothing more is sent to the caller. */
  closed(end: End, error?: Error): void {
    try {
      if (error !== undefined) this.#responseFailed(error);
      if (end !== 'complete') this.#ctx.clientLeft(reasonOf(end));
    } catch (failure) {
      this.#abandon(failure);
    }
    this.#settled();
  }

  #responseFailed(error: Error): void {
    const { id, trace } = this.#ctx;
    this.#options.log.debug(
      { request_id: id, trace_id: trace.traceId, reason: error.message },
      'response failed',
    );
  }

  #settlePart(): void {
    this.#pendingParts -= 1;
    if (this.#pendingParts > 0) return;
    finishRequest(this.#ctx, this.#options.inFlight, this.#options.finished);
  }
}

/** The gateway's reason to end an exchange; undefined if the caller left, or the upstream broke off. */
export function reasonOf(end: End): EndReason | undefined {
  return end in CODE_OF_END ? (end as EndReason) : undefined;
}

/** Turns an unexpected error into `internal_error` and logs it; the caller must not see its cause. */
export function toGatewayError(ctx: RequestContext, error: unknown, log: Logger): GatewayError {
  if (error instanceof GatewayError) return error;
  log.error(
    { request_id: ctx.id, trace_id: ctx.trace.traceId, err: error },
    'request failed unexpectedly',
  );
  return new GatewayError('internal_error', 'The gateway failed to handle the request.');
}
