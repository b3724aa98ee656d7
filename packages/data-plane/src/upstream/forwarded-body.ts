import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import { messageSizes } from '../request/message-sizes.ts';
import { withPassedTrailers } from '../request/outbound-body.ts';
import type { BodyLimits, TakenBody } from '../request/request-body.ts';
import { ResendableBody } from '../request/resendable-body.ts';
import { isStream, type StreamProgress } from '../request/stream-progress.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { mayRepeat } from './decide-retry.ts';

export interface ForwardBodyOptions {
  /** The largest request body that is kept so that a retry can send it again. */
  readonly retryBodyBytes: number;
}

/**
 * A body that costs less to keep than to stream: one whose length is announced, or that has arrived whole. Of a body that
 * streams, so much is kept until its response begins.
 */
const SMALL_BODY_BYTES = 64 * 1024;

/**
 * The body of a request as it is forwarded, unless an earlier stage had to read it.
 *
 * @param stream what is told of the body if it streams; undefined: the bounds of uploads apply
 * @throws GatewayError as `RequestBody.take`
 */
export function takeBody(
  ctx: RequestContext,
  route: CompiledRoute,
  options: ForwardBodyOptions,
  stream?: StreamProgress,
): TakenBody | Promise<TakenBody> {
  return ctx.takenBody ?? ctx.body.take(forwardBodyLimits(ctx, route, options, stream));
}

/** How much of a body is accepted, and how much of it is kept. */
function forwardBodyLimits(
  ctx: RequestContext,
  route: CompiledRoute,
  { retryBodyBytes }: ForwardBodyOptions,
  stream: StreamProgress | undefined,
): BodyLimits {
  // The upstream may answer the first message before the caller sends the next one.
  const streamsEarly = ctx.inbound.isGrpc || isStream(ctx);
  const unkept = ctx.framing.kind === 'chunked' && !streamsEarly ? 0 : SMALL_BODY_BYTES;
  return {
    maxBytes: route.settings.max_body_bytes,
    messages: messageSizes(ctx, route.settings),
    keepBytes: isRepeatable(ctx, route) ? retryBodyBytes : unkept,
    streamsEarly,
    stream,
    request: ctx,
    upload: route.settings,
  };
}

/** Whether a retry may follow after some of the request was sent. */
function isRepeatable(ctx: RequestContext, { settings, retry }: CompiledRoute): boolean {
  return settings.retry_count > 0 && mayRepeat(ctx.method, sendsIdempotencyKey(ctx.inbound), retry);
}

/**
 * How much of a body that streams may have been sent if it is to be sent again. 0: it never is once it was begun, because
 * only an upstream of HTTP/2 says of a request that it has not looked at it.
 */
function resendableBytes(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  { retryBodyBytes }: ForwardBodyOptions,
): number {
  if (isRepeatable(ctx, route)) return Math.min(retryBodyBytes, SMALL_BODY_BYTES);
  return service.protocol === 'http1' ? 0 : SMALL_BODY_BYTES;
}

/** The body for the attempts at a request. */
export function bodyOfAttempts(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  options: ForwardBodyOptions,
  taken: TakenBody,
): TakenBody {
  const body = withPassedTrailers(ctx, taken);
  if (body.kind === 'kept') return body;
  const maxBytes = resendableBytes(ctx, route, service, options);
  if (maxBytes === 0) return body;
  const resendable = new ResendableBody(body.stream, maxBytes);
  ctx.onFinish(() => {
    resendable.keepNoMore();
  });
  return { ...body, resendable };
}
