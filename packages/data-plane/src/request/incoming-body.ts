import type { BodySink, End, ServerExchange } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import { BodyBuffer } from '@gateway/http/message/body-buffer';
import { toBuffer, type BodyBytes } from '@gateway/http/message/body-bytes';
import { announcedLength } from '@gateway/http/message/framing';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bodyLost, sizeError, tooLarge } from './body-errors.ts';
import type { BodyBudget, BodyLimits, BodyStream, RequestBody, TakenBody } from './request-body.ts';
import type { BodyWatch } from './stream-progress.ts';
import { StreamedBody, type CountedBody } from './streamed-body.ts';
import type { TimeAccount } from './time-account.ts';
import { UploadWatch, type UploadWatchOptions, type WatchedBody } from './upload-watch.ts';

/** What all bodies have in common. */
export interface IncomingBodyOptions extends UploadWatchOptions {
  readonly bodyBudget: BodyBudget;
}

/** What a body needs of its request. */
export type BodyExchange = Pick<ServerExchange, 'head' | 'body' | 'connection' | 'sendInterim'>;

/** Where what arrives of a body goes. */
interface Arrivals extends BodySink {
  late(error: GatewayError): void;
}

/** First reservation for a body of unknown length. */
const FIRST_RESERVE_BYTES = 64 * 1024;

/** The body of a request. Before `take` nothing is read and no `100 Continue` is sent. */
export class IncomingBody implements RequestBody, BodySink, WatchedBody, CountedBody {
  readonly empty = false;
  receivedBytes = 0;
  taken = false;
  readonly times: TimeAccount;
  readonly #exchange: BodyExchange;
  readonly #awaitsContinue: boolean;
  readonly #options: IncomingBodyOptions;
  #reservedBytes = 0;
  #sink: Arrivals | undefined = undefined;
  /** undefined: the body had arrived when it was taken, or was not taken. */
  #watch: BodyWatch | undefined = undefined;
  #streamed: StreamedBody | undefined = undefined;

  /** @param awaitsContinue whether the caller waits for `100 Continue` */
  constructor(
    exchange: BodyExchange,
    awaitsContinue: boolean,
    times: TimeAccount,
    options: IncomingBodyOptions,
  ) {
    this.times = times;
    this.#exchange = exchange;
    this.#awaitsContinue = awaitsContinue;
    this.#options = options;
  }

  take(limits: BodyLimits): TakenBody | Promise<TakenBody> {
    const { head, body } = this.#exchange;
    // undefined: the body is chunked, so its length is unknown.
    const contentLength = announcedLength(head.framing);
    // An earlier stage may have waited.
    if (body.ended !== undefined && body.ended !== 'complete') throw bodyLost(body.ended);
    if ((contentLength ?? 0) > limits.maxBytes && limits.messages === undefined) {
      throw tooLarge(limits);
    }
    const expectedBytes = contentLength ?? Math.min(limits.keepBytes, FIRST_RESERVE_BYTES);
    const fits = expectedBytes <= limits.keepBytes && expectedBytes > 0;
    const keep = fits && this.#options.bodyBudget.reserve(expectedBytes);
    this.taken = true;
    if (this.#awaitsContinue) this.#exchange.sendInterim(100, []);
    if (keep) {
      this.#reservedBytes = expectedBytes;
      const whole = body.takeWhole(expectedBytes);
      if (whole !== undefined) return this.#kept(whole, limits);
    }
    this.#watch = limits.stream ?? this.#watchUpload(limits);
    if (keep && limits.streamsEarly !== true) return this.#readWhole(limits, this.#watch);
    // A stream may last.
    if (keep) this.#giveBack();
    return { kind: 'stream', stream: this.#stream([], false, undefined, limits) };
  }

  get budget(): BodyBudget {
    return this.#options.bodyBudget;
  }

  get failure(): Error | undefined {
    return this.#streamed?.failure;
  }

  release(): void {
    this.#streamed?.discard();
    this.#giveBack();
  }

  #giveBack(): void {
    this.#options.bodyBudget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #watchUpload(limits: BodyLimits): UploadWatch {
    return new UploadWatch(this, limits, this.#exchange.connection.guard, this.#options);
  }

  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    this.receivedBytes += bytes.length;
    this.#sink?.data(bytes, last, trailers);
    if (!last) this.#watch?.progressed();
  }

  failed(end: End): void {
    this.#sink?.failed(end);
  }

  late(error: GatewayError): void {
    this.#sink?.late(error);
  }

  awaitCaller(awaited: boolean): void {
    this.times.awaitUpload(awaited, this.#options.clock.monotonicMs());
    if (awaited) this.#watch?.awaited();
  }

  unwatch(): void {
    this.#watch?.stop();
  }

  #kept(whole: BodyBytes, limits: BodyLimits): TakenBody {
    this.receivedBytes = whole.length;
    const error = sizeError(limits, whole.length, whole);
    if (error !== undefined) throw error;
    return keptBody(whole, this.#exchange.body.trailers);
  }

  #readWhole(limits: BodyLimits, watch: BodyWatch): Promise<TakenBody> {
    const { body } = this.#exchange;
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const kept = new BodyBuffer();
      this.times.enter('receiving', clock.monotonicMs());
      const settle = (result: TakenBody | Error) => {
        this.times.enter('gateway', clock.monotonicMs());
        const isError = result instanceof Error;
        if (isError || result.kind === 'kept') watch.stop();
        if (isError) {
          this.#sink = undefined;
          body.discard();
          reject(result);
        } else resolve(result);
      };
      this.#sink = {
        data: (bytes, last, trailers) => {
          if (bytes.length > 0) kept.add(toBuffer(bytes));
          const error = sizeError(limits, this.receivedBytes, bytes);
          if (error !== undefined) settle(error);
          else if (this.receivedBytes > limits.keepBytes || !this.#reserveFor(limits)) {
            if (!last) body.pause();
            const stream = this.#stream(kept.parts(), last, trailers, limits);
            settle({ kind: 'stream', stream });
          } else if (last) {
            settle(keptBody(kept.whole(), trailers));
          }
        },
        failed: (end) => {
          settle(bodyLost(end));
        },
        late: settle,
      };
      watch.awaited();
      body.start(this);
    });
  }

  /** Whether the received bytes may be kept. A body of unknown length reserves more as it grows. */
  #reserveFor(limits: BodyLimits): boolean {
    if (this.receivedBytes <= this.#reservedBytes) return true;
    const doubled = Math.min(this.#reservedBytes * 2, limits.keepBytes);
    const moreBytes = Math.max(this.receivedBytes, doubled) - this.#reservedBytes;
    if (!this.#options.bodyBudget.reserve(moreBytes)) return false;
    this.#reservedBytes += moreBytes;
    return true;
  }

  /** Streams what has arrived and the rest. */
  #stream(
    head: readonly Buffer[],
    isWhole: boolean,
    trailers: HeaderFields | undefined,
    limits: BodyLimits,
  ): BodyStream {
    const { body } = this.#exchange;
    const from = { rest: body, head, isWhole, trailers, whole: this };
    const streamed = new StreamedBody(from, limits);
    const hasStarted = this.#sink !== undefined;
    this.#sink = this.#streamed = streamed;
    if (!hasStarted) {
      body.pause();
      body.start(this);
    }
    return streamed;
  }
}

function keptBody(whole: BodyBytes, trailers: HeaderFields | undefined): TakenBody {
  const bytes = whole.length === 0 ? null : whole;
  return trailers === undefined ? { kind: 'kept', bytes } : { kind: 'kept', bytes, trailers };
}
