import type { BodySink, BodySource, End } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bodyLost, sizeError } from './body-errors.ts';
import type { BodyBudget, BodyLimits, BodyStream } from './request-body.ts';
import { requestTrailers, type TrailerContext } from './trailers.ts';

/** What a body streams from. */
export interface StreamedFrom {
  /** The rest of the body, started and paused. Its sink passes it to `data` and `failed`. */
  readonly rest: BodySource;
  /** What has arrived of the body, and whether it is all. */
  readonly head: readonly Buffer[];
  readonly isWhole: boolean;
  /** The fields after it, if it is all. */
  readonly trailers: HeaderFields | undefined;
  /** The body as a whole. */
  readonly whole: CountedBody;
}

/** A body that counts its bytes, and the time in which it is awaited. */
export interface CountedBody {
  readonly receivedBytes: number;
  /** For what is kept of it. */
  readonly budget: BodyBudget;
  /** From now on the gateway waits, or does not wait, for bytes of the caller. */
  awaitCaller(awaited: boolean): void;
  /** Nothing more of it is wanted. */
  unwatch(): void;
}

/**
 * Streams the body to one attempt with back-pressure, and bounds its size. Discarding it does not close the
 * caller's connection, because the caller still gets an answer.
 */
export class StreamedBody implements BodyStream, BodySink {
  ended: End | undefined = undefined;
  failure: Error | undefined = undefined;
  isRead = false;
  readonly #from: StreamedFrom;
  readonly #limits: BodyLimits;
  readonly #head: Buffer[];
  #sink: BodySink | undefined = undefined;
  /** Whose trailers are passed on. */
  #request: TrailerContext | undefined = undefined;
  #begun = false;
  #isPaused = false;
  #isOver = false;

  constructor(from: StreamedFrom, limits: BodyLimits) {
    this.#from = from;
    this.#limits = limits;
    this.#head = from.head.toReversed();
    if (from.isWhole) this.ended = 'complete';
  }

  get begun(): boolean {
    return this.#begun || this.#isOver;
  }

  get budget(): BodyBudget {
    return this.#from.whole.budget;
  }

  passTrailersFor(request: TrailerContext): void {
    this.#request = request;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#begun = true;
    this.#read();
  }

  pause(): void {
    if (this.#isOver) return;
    this.#isPaused = true;
    this.#from.rest.pause();
    this.#from.whole.awaitCaller(false);
  }

  resume(): void {
    if (this.#isOver || !this.#isPaused) return;
    this.#isPaused = false;
    this.#read();
  }

  discard(): void {
    this.#end('cut_short');
  }

  /** Passes on what was kept, and then what arrives, unless the reader pauses it. */
  #read(): void {
    while (!this.#isPaused && !this.#isOver && this.#head.length > 0) {
      const part = this.#head.pop();
      const isLast = this.#head.length === 0 && this.ended === 'complete';
      if (part !== undefined) this.#pass(part, isLast, this.#from.trailers);
    }
    if (this.#isPaused || this.#isOver) return;
    const { rest, whole } = this.#from;
    whole.awaitCaller(rest.ended === undefined);
    rest.resume();
  }

  /** A part has arrived. */
  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (this.#isOver) return;
    const { whole } = this.#from;
    const error = sizeError(this.#limits, whole.receivedBytes, bytes);
    if (error !== undefined) {
      this.#fail(error, 'malformed');
      return;
    }
    if (last) {
      this.ended = 'complete';
      whole.awaitCaller(false);
    }
    this.#pass(bytes, last, trailers);
  }

  /** The caller does not send the rest in time. */
  late(error: GatewayError): void {
    this.#fail(error, 'timed_out');
  }

  /** The rest will not arrive. */
  failed(end: End): void {
    this.#fail(bodyLost(end), end);
  }

  #pass(bytes: BodyBytes, last: boolean, trailers: HeaderFields | undefined): void {
    const sink = this.#sink;
    if (last) {
      this.isRead = true;
      this.#end('complete');
    }
    const request = this.#request;
    if (!last || trailers === undefined || request === undefined) sink?.data(bytes, last);
    else sink?.data(bytes, last, requestTrailers(request, trailers));
  }

  #fail(error: Error, end: End): void {
    if (this.#isOver) return;
    const sink = this.#sink;
    this.failure = error;
    this.#end(end);
    sink?.failed(end);
  }

  #end(end: End): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.ended ??= end;
    this.#sink = undefined;
    this.#from.whole.awaitCaller(false);
    this.#from.whole.unwatch();
    if (end !== 'complete') this.#from.rest.discard();
  }
}
