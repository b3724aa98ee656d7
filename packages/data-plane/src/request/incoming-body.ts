import { Readable } from 'node:stream';
import type { Clock, Timer } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import { announcedLength } from '@gateway/http1/message/framing';
import { ClientLeftError, type CallerRequest, type CallerResponse } from './caller.ts';
import type { BodyBudget, BodyLimits, BodyStream, RequestBody, TakenBody } from './request-body.ts';
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
  readonly #request: CallerRequest;
  readonly #continued: Pick<CallerResponse, 'writeContinue'> | undefined;
  readonly #options: IncomingBodyOptions;
  #reservedBytes = 0;
  #streamed: IncomingBodyStream | undefined = undefined;

  /** @param continued where to send `100 Continue`; undefined if the caller does not wait for it */
  constructor(
    request: CallerRequest,
    continued: Pick<CallerResponse, 'writeContinue'> | undefined,
    options: IncomingBodyOptions,
  ) {
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
        settle(bodyLate());
        request.resume();
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

/** The error for an incomplete body: it is malformed, or its caller has left. */
function bodyLost(request: CallerRequest): Error {
  return request.lost === 'malformed'
    ? new GatewayError('invalid_request', 'The request was refused: the body is not well-formed.')
    : new ClientLeftError();
}

/** The error for a body that was not complete at the deadline, because of its caller. */
export function bodyLate(): GatewayError {
  return new GatewayError('request_timeout', 'The request body did not arrive in time.');
}

/** The error for a body above the limit of its route. */
export function tooLarge(limits: Pick<BodyLimits, 'maxBytes'>): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than the ${limits.maxBytes} bytes that the route takes.`,
  );
}

/**
 * Streams the body with back-pressure. Destroying it does not close the caller's connection, because the
 * caller still gets an answer; the rest of the body is read and dropped.
 */
class IncomingBodyStream extends Readable implements BodyStream {
  failure: Error | undefined = undefined;
  #awaitedCaller = false;
  /** When the caller last sent something, or was last asked for more; ms, monotonic. */
  #progressMs: number;
  readonly #clock: Clock;
  readonly #request: CallerRequest;
  readonly #detach: () => void;

  constructor(
    owner: { receivedBytes: number },
    request: CallerRequest,
    options: IncomingBodyOptions,
    head: readonly Buffer[],
    limits: BodyLimits,
  ) {
    super({ highWaterMark: 64 * 1024 });
    const { clock, bodyIdleTimeoutMs } = options;
    this.#request = request;
    this.#clock = clock;
    this.#progressMs = clock.monotonicMs();
    let idle: Timer | undefined;

    const fail = (error: Error) => {
      this.failure = error;
      this.destroy(error);
    };
    // One timer for the whole body: making one for each chunk costs as much as handling the chunk.
    const watch = (delayMs: number) => {
      idle = clock.setTimer(delayMs, () => {
        const idleMs = request.isPaused() ? 0 : clock.monotonicMs() - this.#progressMs;
        if (idleMs < bodyIdleTimeoutMs) watch(bodyIdleTimeoutMs - idleMs);
        else fail(new GatewayError('request_timeout', 'The request body timed out.'));
      });
    };
    const onData = (chunk: Buffer) => {
      owner.receivedBytes += chunk.length;
      if (owner.receivedBytes > limits.maxBytes) fail(tooLarge(limits));
      // Pause as soon as anything queues: a queue of small chunks needs many times its bytes.
      else if (!this.push(chunk) || this.readableLength > 0) request.pause();
      this.#progressMs = clock.monotonicMs();
    };
    const onEnd = () => {
      this.#detach();
      this.push(null);
    };
    const onClose = () => fail(bodyLost(request));
    this.#detach = () => {
      idle?.cancel();
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    // The stream may fail before or after an attempt reads it; `failure` keeps the error.
    this.on('error', () => undefined);
    request.on('end', onEnd).on('close', onClose).on('error', onClose);
    for (const chunk of head) this.push(chunk);
    request.on('data', onData);
    request.pause();
    watch(bodyIdleTimeoutMs);
  }

  /** True once an attempt listens, because it may have read some of the body. */
  get begun(): boolean {
    return this.readableFlowing !== null;
  }

  get awaitsCaller(): boolean {
    return this.destroyed ? this.#awaitedCaller : this.begun && this.#isAwaited();
  }

  /** All that arrived was read: otherwise the request is paused. */
  #isAwaited(): boolean {
    return !this.#request.complete && !this.#request.isPaused();
  }

  override _read(): void {
    // The time before this is that of a slow upstream.
    this.#progressMs = this.#clock.monotonicMs();
    this.#request.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#detach();
    this.#awaitedCaller = this.begun && this.#isAwaited();
    if (!this.#request.complete) this.#request.resume();
    callback(error);
  }
}
