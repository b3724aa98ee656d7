import type { Clock } from '@gateway/shared/clock';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import { announcedLength } from '@gateway/http1/message/framing';
import { bodyLate, bodyLost, tooLarge } from './body-errors.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import { IncomingBodyStream } from './incoming-body-stream.ts';
import type { BodyBudget, BodyLimits, BodyStream, RequestBody, TakenBody } from './request-body.ts';
import type { TimeAccount } from './time-account.ts';
import { BodyBuffer } from '@gateway/http1/message/body-buffer';

/** What all bodies have in common. */
export interface IncomingBodyOptions {
  readonly bodyBudget: BodyBudget;
  readonly clock: Clock;
  /** How long a streamed body may stall. */
  readonly bodyIdleTimeoutMs: number;
}

/** First reservation for a body of unknown length. */
const FIRST_RESERVE_BYTES = 64 * 1024;

/** The body of a request. Before `take` nothing is read and no `100 Continue` is sent. */
export class IncomingBody implements RequestBody {
  readonly empty = false;
  receivedBytes = 0;
  taken = false;
  readonly times: TimeAccount;
  readonly #request: CallerRequest;
  readonly #continued: Pick<CallerResponse, 'writeContinue'> | undefined;
  readonly #options: IncomingBodyOptions;
  #reservedBytes = 0;
  #streamed: IncomingBodyStream | undefined = undefined;

  /** @param continued where to send `100 Continue`; undefined if the caller does not wait for it */
  constructor(
    request: CallerRequest,
    continued: Pick<CallerResponse, 'writeContinue'> | undefined,
    times: TimeAccount,
    options: IncomingBodyOptions,
  ) {
    this.times = times;
    this.#request = request;
    this.#continued = continued;
    this.#options = options;
  }

  take(limits: BodyLimits): TakenBody | Promise<TakenBody> {
    const request = this.#request;
    // undefined: the body is chunked, so its length is unknown.
    const contentLength = announcedLength(request.framing);
    // An earlier stage may have waited, and an event that was emitted in between is not repeated.
    if (request.lost !== undefined) throw bodyLost(request);
    if (contentLength !== undefined && contentLength > limits.maxBytes) throw tooLarge(limits);
    const expectedBytes = contentLength ?? Math.min(limits.keepBytes, FIRST_RESERVE_BYTES);
    const fits = expectedBytes <= limits.keepBytes && expectedBytes > 0;
    const keep = fits && this.#options.bodyBudget.reserve(expectedBytes);
    this.taken = true;
    this.#continued?.writeContinue();
    if (!keep) return { kind: 'stream', stream: this.#stream([], limits) };
    this.#reservedBytes = expectedBytes;
    const whole = request.takeWhole(expectedBytes);
    return whole === undefined ? this.#readWhole(limits) : this.#kept(whole, limits);
  }

  release(): void {
    this.#streamed?.destroy();
    this.#options.bodyBudget.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #kept(whole: BodyBytes, limits: BodyLimits): TakenBody {
    this.receivedBytes = whole.length;
    if (whole.length > limits.maxBytes) throw tooLarge(limits);
    return { kind: 'kept', bytes: whole.length === 0 ? null : whole };
  }

  #readWhole(limits: BodyLimits): Promise<TakenBody> {
    const request = this.#request;
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const kept = new BodyBuffer();
      let settled = false;
      const settle = (result: TakenBody | Error) => {
        if (settled) return;
        settled = true;
        timer.cancel();
        // A request that has ended emits nothing more, so only the rare case pays for `off`.
        if (!request.readableEnded) request.off('data', onData).off('end', onEnd);
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      const onData = (chunk: Buffer) => {
        this.receivedBytes += chunk.length;
        kept.add(chunk);
        if (this.receivedBytes > limits.maxBytes) {
          settle(tooLarge(limits));
          request.resume();
        } else if (this.receivedBytes > limits.keepBytes || !this.#reserveFor(limits)) {
          request.pause();
          settle({ kind: 'stream', stream: this.#stream(kept.parts(), limits) });
        }
      };
      const onEnd = () => {
        const bytes = kept.whole();
        settle({ kind: 'kept', bytes: bytes.length === 0 ? null : bytes });
      };
      // Every request closes, and creating an Error with its stack costs more than reading the body.
      const onClose = () => {
        if (!settled) settle(bodyLost(request));
      };
      const timeoutMs = Math.max(1, limits.deadlineMs - clock.monotonicMs());
      const timer = clock.setTimer(timeoutMs, () => {
        request.guard.run(() => {
          settle(bodyLate());
          request.resume();
        });
      });
      request.on('data', onData).on('end', onEnd).on('close', onClose);
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

  #stream(head: readonly Buffer[], limits: BodyLimits): BodyStream {
    return (this.#streamed = new IncomingBodyStream(
      this,
      this.#request,
      this.#options,
      head,
      limits,
    ));
  }
}
