import { Readable } from 'node:stream';
import type { Clock, Timer } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { toStayValid } from '@gateway/http1/message/read-buffer';
import { bodyLost, tooLarge } from './body-errors.ts';
import type { CallerRequest } from './caller.ts';
import type { BodyLimits, BodyStream } from './request-body.ts';
import type { TimeAccount } from './time-account.ts';

type Listener = Parameters<Readable['on']>[1];

/**
 * Streams the body with back-pressure. Destroying it does not close the caller's connection, because the
 * caller still gets an answer; the rest of the body is read and dropped.
 */
export class IncomingBodyStream extends Readable implements BodyStream {
  failure: Error | undefined = undefined;
  #awaitedCaller = false;
  /** Since when its reader pauses it; ms, monotonic. */
  #pausedSinceMs: number | undefined = undefined;
  #refusedMs = 0;
  /** When the caller last sent something, or was last asked for more; ms, monotonic. */
  #progressMs: number;
  readonly #clock: Clock;
  readonly #request: CallerRequest;
  readonly #times: TimeAccount;
  readonly #detach: () => void;

  constructor(
    owner: { receivedBytes: number; readonly times: TimeAccount },
    request: CallerRequest,
    options: { readonly clock: Clock; readonly bodyIdleTimeoutMs: number },
    head: readonly Buffer[],
    limits: BodyLimits,
  ) {
    super({ highWaterMark: 64 * 1024 });
    const { clock, bodyIdleTimeoutMs } = options;
    this.#request = request;
    this.#times = owner.times;
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
        request.guard.run(() => {
          const idleMs = request.isPaused() ? 0 : clock.monotonicMs() - this.#progressMs;
          if (idleMs < bodyIdleTimeoutMs) watch(bodyIdleTimeoutMs - idleMs);
          else fail(new GatewayError('request_timeout', 'The request body timed out.'));
        });
      });
    };
    const onData = (chunk: Buffer) => {
      owner.receivedBytes += chunk.length;
      if (owner.receivedBytes > limits.maxBytes) fail(tooLarge(limits));
      // Not by `push`, which costs more and needs a copy.
      else if (this.#isReadNow()) this.emit('data', chunk);
      // Pause as soon as anything queues: a queue of small chunks needs many times its bytes.
      else if (!this.push(toStayValid(chunk)) || this.readableLength > 0) request.pause();
      this.#progressMs = clock.monotonicMs();
      if (request.isPaused()) owner.times.awaitUpload(false, this.#progressMs);
    };
    const onEnd = () => {
      this.#detach();
      owner.times.awaitUpload(false, clock.monotonicMs());
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

  get refusedMs(): number {
    if (this.destroyed || this.#pausedSinceMs === undefined) return this.#refusedMs;
    return this.#clock.monotonicMs() - this.#pausedSinceMs;
  }

  /** All that arrived was read: otherwise the request is paused. */
  #isAwaited(): boolean {
    return !this.#request.complete && !this.#request.isPaused();
  }

  /** Whether an attempt takes the next chunk at once, and none waits before it. */
  #isReadNow(): boolean {
    return (
      this.readableFlowing === true && this.readableLength === 0 && this.listenerCount('data') > 0
    );
  }

  // Without `data` listeners the caller's request would stay paused, and its reader would wait for ever.
  override on(event: string | symbol, listener: Listener): this {
    if (event === 'readable') throw wrongReader();
    return super.on(event, listener);
  }

  override addListener(event: string | symbol, listener: Listener): this {
    return this.on(event, listener);
  }

  override read(bytes?: number): unknown {
    // Node itself reads no bytes, or all of them while it emits `data`.
    if (bytes !== 0 && this.readableFlowing !== true) throw wrongReader();
    return super.read(bytes);
  }

  // A chunk may lie in the buffer that the next read overwrites, and the target of a pipe keeps it while it is busy.
  override pipe(): never {
    throw wrongReader();
  }

  override pause(): this {
    this.#pausedSinceMs ??= this.#clock.monotonicMs();
    if (!this.#request.isPaused()) {
      this.#request.pause();
      this.#times.awaitUpload(false, this.#clock.monotonicMs());
    }
    return super.pause();
  }

  override resume(): this {
    this.#pausedSinceMs = undefined;
    super.resume();
    // Node does not: it may have asked already, before the pause, and it asks again only after a `push`.
    if (this.readableLength < this.readableHighWaterMark) this._read();
    return this;
  }

  override _read(): void {
    // The time before this is that of a slow upstream.
    this.#progressMs = this.#clock.monotonicMs();
    // Node also asks for more during a pause, and before there is a reader. What arrives then waits in the request,
    // which joins small chunks; `resume` asks again.
    if (this.readableFlowing !== true) return;
    this.#request.resume();
    this.#times.awaitUpload(!this.#request.complete, this.#progressMs);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#detach();
    if (this.#pausedSinceMs !== undefined) {
      this.#refusedMs = this.#clock.monotonicMs() - this.#pausedSinceMs;
    }
    this.#awaitedCaller = this.begun && this.#isAwaited();
    this.#times.awaitUpload(false, this.#clock.monotonicMs());
    if (!this.#request.complete) this.#request.resume();
    callback(error);
  }
}

function wrongReader(): Error {
  return new Error('the body of a request can be read with data listeners only');
}
