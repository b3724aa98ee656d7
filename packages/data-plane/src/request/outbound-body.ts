import type { BodySink, BodySource, ClientRequest } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { RequestContext } from './context.ts';
import type { TakenBody } from './request-body.ts';
import { announcedRequestTrailers, requestTrailers } from './trailers.ts';

/**
 * What an upstream gets of a body: only those of its trailers that pass. Over HTTP/1.1 only a body in chunks has trailers,
 * so over HTTP/2 too only one without a length has them.
 */
export function withPassedTrailers(ctx: RequestContext, body: TakenBody): TakenBody {
  if (body.kind === 'stream') {
    if (ctx.framing.kind === 'chunked') body.stream.passTrailersFor(ctx);
    return body;
  }
  const { bytes, trailers } = body;
  if (trailers === undefined) return body;
  const isChunked = ctx.framing.kind === 'chunked';
  return { kind: 'kept', bytes, trailers: isChunked ? requestTrailers(ctx, trailers) : undefined };
}

/** The fields of a request with this body in chunks, with `Trailer` if the caller announces trailers and some may follow. */
export function withAnnouncement(
  fields: HeaderFields,
  ctx: RequestContext,
  body: TakenBody,
): HeaderFields {
  const announced = mayHaveTrailers(body) ? announcedRequestTrailers(ctx) : undefined;
  return announced === undefined ? fields : [...fields, 'trailer', announced];
}

function mayHaveTrailers(body: TakenBody): boolean {
  return body.kind === 'stream' || body.trailers !== undefined;
}

/** The body for one attempt. */
export function bodyToSend(body: TakenBody): ClientRequest['body'] {
  if (body.kind === 'stream') return body.resendable?.forAttempt() ?? body.stream;
  return body.trailers === undefined ? body.bytes : new KeptBody(body.bytes ?? '', body.trailers);
}

/** Whether another attempt can send it. */
export function canBeSent(body: TakenBody): boolean {
  return body.kind === 'kept' || (body.resendable?.canBeSent ?? !body.stream.begun);
}

/** An attempt has ended. */
export function attemptHasEnded(body: TakenBody, isRetried: boolean): void {
  if (body.kind === 'kept') return;
  if (isRetried) body.resendable?.detach();
  else body.resendable?.keepNoMore();
}

/** A kept body with its trailers. */
class KeptBody implements BodySource {
  readonly ended = 'complete';
  readonly #bytes: BodyBytes;
  readonly #trailers: HeaderFields;

  constructor(bytes: BodyBytes, trailers: HeaderFields) {
    this.#bytes = bytes;
    this.#trailers = trailers;
  }

  start(sink: BodySink): void {
    sink.data(this.#bytes, true, this.#trailers);
  }

  pause(): void {
    // All of it has been passed on.
  }

  resume(): void {
    // All of it has been passed on.
  }

  discard(): void {
    // Nothing of it is awaited.
  }
}
