import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { ClientLeftError, type CallerRequest, type CallerResponse } from './caller.ts';
import type { RequestContext } from './context.ts';
import { respondWithError, respondWithUpstream, type RespondOptions } from './reply.ts';
import { runStages, type NamedStage } from './stage.ts';
import type { UpstreamResponse } from './upstream-response.ts';
import { createContext, type ContextOptions } from './create-context.ts';
import type { InFlight } from './in-flight.ts';
import { onRequestEnd, type RequestEndOptions } from './request-end.ts';

export interface ProxyHandlerOptions extends RequestEndOptions {
  readonly stages: readonly NamedStage[];
  readonly contextOptions: ContextOptions;
  readonly respond: RespondOptions;
  readonly inFlight: InFlight;
  readonly log: Logger;
  /** Called once for each request, when it is over. */
  readonly finished: (ctx: RequestContext) => void;
}

export type ProxyHandler = (
  request: CallerRequest,
  response: CallerResponse,
  path: string,
  query: string,
) => void;

/** Handles the requests of the data path: the stages, then the response, then the record. */
export function createProxyHandler(options: ProxyHandlerOptions): ProxyHandler {
  return (request, response, path, query) => {
    const ctx = createContext(request, response, path, query, options.contextOptions);
    options.inFlight.enter();
    // A request is over when its stages have settled and nothing more is sent on the connection.
    let pendingParts = 2;
    const settle = () => {
      pendingParts -= 1;
      if (pendingParts > 0) return;
      options.inFlight.leave();
      ctx.finish();
      options.finished(ctx);
    };
    onRequestEnd(request, response, options, (complete) => {
      if (!complete) ctx.clientLeft();
      settle();
    });
    response.on('error', (error) => {
      options.log.debug(
        { request_id: ctx.id, trace_id: ctx.trace.traceId, reason: error.message },
        'response failed',
      );
    });
    void handle(ctx, response, options, settle);
  };
}

/** Runs the stages and replies. This is the one place that turns errors into replies. Calls `settled` last. */
async function handle(
  ctx: RequestContext,
  response: CallerResponse,
  options: ProxyHandlerOptions,
  settled: () => void,
): Promise<void> {
  try {
    const reply = await runStages(options.stages, ctx);
    if (reply === undefined) throw new Error('no stage answered the request');
    const upstream = ctx.capture === undefined ? reply.response : ctx.capture(reply.response);
    if (ctx.clientGone) upstream.cancel();
    else passOn(ctx, response, upstream, options);
  } catch (error) {
    if (error instanceof ClientLeftError) {
      ctx.clientGone = true;
      response.destroy();
    } else {
      answer(ctx, response, toGatewayError(ctx, error, options.log), options);
    }
  }
  settled();
}

function passOn(
  ctx: RequestContext,
  response: CallerResponse,
  upstream: UpstreamResponse,
  options: ProxyHandlerOptions,
): void {
  try {
    respondWithUpstream(ctx, response, upstream, options.respond);
  } catch (error) {
    // Otherwise the upstream connection would wait for a reader forever.
    upstream.cancel();
    throw error;
  }
}

function answer(
  ctx: RequestContext,
  response: CallerResponse,
  error: GatewayError,
  options: ProxyHandlerOptions,
): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else respondWithError(ctx, response, error, options.respond);
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
