import type { ConnectionGuard } from '@gateway/http/connection-guard';
import type { BodySink, BodySource, End } from '@gateway/http/exchange';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { Clock, Timer } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bodyLost, tooLarge } from './body-errors.ts';
import type { BodyLimits, BodyStream } from './request-body.ts';
import type { TimeAccount } from './time-account.ts';

/** What a body streams from. */
export interface StreamedFrom {
  /** The rest of the body, started and paused. Its sink passes it to `data` and `failed`. */
  readonly rest: BodySource;
  /** What has arrived of the body, and whether it is all. */
  readonly head: readonly Buffer[];
  readonly isWhole: boolean;
  /** That of the caller's connection. */
  readonly guard: ConnectionGuard;
  /** The body as a whole counts its bytes. */
  readonly counts: { receivedBytes: number; readonly times: TimeAccount };
}

/**
 * Streams the body to one attempt with back-pressure, and bounds its size and its pauses. Discarding it does not close the
 * caller's connection, because the caller still gets an answer.
 */
export class StreamedBody implements BodyStream, BodySink {
  ended: End | undefined = undefined;
  failure: Error | undefined = undefined;
  isRead = false;
  readonly #from: StreamedFrom;
  readonly #limits: BodyLimits;
  readonly #clock: Clock;
  readonly #idleTimeoutMs: number;
  readonly #head: Buffer[];
  #sink: BodySink | undefined = undefined;
  #begun = false;
  #isPaused = false;
  #isOver = false;
  #awaitedCaller = false;
  /** Since when its reader pauses it; ms, monotonic. */
  #pausedSinceMs: number | undefined = undefined;
  #refusedMs = 0;
  /** When the caller last sent something, or was last asked for more; ms, monotonic. */
  #progressMs: number;
  #idle: Timer | undefined = undefined;

  constructor(
    from: StreamedFrom,
    limits: BodyLimits,
    { clock, bodyIdleTimeoutMs }: { readonly clock: Clock; readonly bodyIdleTimeoutMs: number },
  ) {
    this.#from = from;
    this.#limits = limits;
    this.#clock = clock;
    this.#idleTimeoutMs = bodyIdleTimeoutMs;
    this.#head = from.head.toReversed();
    if (from.isWhole) this.ended = 'complete';
    this.#progressMs = clock.monotonicMs();
    this.#watch(bodyIdleTimeoutMs);
  }

  /** True once an attempt reads it, or nothing can read it any more. */
  get begun(): boolean {
    return this.#begun || this.#isOver;
  }

  get awaitsCaller(): boolean {
    return this.#isOver ? this.#awaitedCaller : this.#isAwaited();
  }

  get refusedMs(): number {
    if (this.#isOver || this.#pausedSinceMs === undefined) return this.#refusedMs;
    return this.#clock.monotonicMs() - this.#pausedSinceMs;
  }

  /** All that arrived was read, and more is wanted. */
  #isAwaited(): boolean {
    return this.#begun && !this.#isPaused && this.#from.rest.ended === undefined;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.#begun = true;
    this.#read();
  }

  pause(): void {
    if (this.#isOver) return;
    this.#isPaused = true;
    this.#pausedSinceMs ??= this.#clock.monotonicMs();
    this.#from.rest.pause();
    this.#from.counts.times.awaitUpload(false, this.#clock.monotonicMs());
  }

  resume(): void {
    if (this.#isOver || !this.#isPaused) return;
    this.#isPaused = false;
    this.#pausedSinceMs = undefined;
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
      if (part !== undefined) this.#pass(part, isLast);
    }
    if (this.#isPaused || this.#isOver) return;
    // The time before this is that of a slow upstream.
    this.#progressMs = this.#clock.monotonicMs();
    const { rest, counts } = this.#from;
    counts.times.awaitUpload(rest.ended === undefined, this.#progressMs);
    rest.resume();
  }

  /** A part has arrived. */
  data(bytes: BodyBytes, last: boolean): void {
    if (this.#isOver) return;
    const { counts } = this.#from;
    counts.receivedBytes += bytes.length;
    if (counts.receivedBytes > this.#limits.maxBytes) {
      this.#fail(tooLarge(this.#limits), 'malformed');
      return;
    }
    if (last) {
      this.ended = 'complete';
      counts.times.awaitUpload(false, this.#clock.monotonicMs());
    }
    this.#pass(bytes, last);
    this.#progressMs = this.#clock.monotonicMs();
  }

  /** The rest will not arrive. */
  failed(end: End): void {
    this.#fail(bodyLost(end), end);
  }

  #pass(bytes: BodyBytes, last: boolean): void {
    const sink = this.#sink;
    if (last) {
      this.isRead = true;
      this.#end('complete');
    }
    sink?.data(bytes, last);
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
    this.#refusedMs = this.refusedMs;
    this.#awaitedCaller = this.#isAwaited();
    this.#isOver = true;
    this.ended ??= end;
    this.#sink = undefined;
    this.#idle?.cancel();
    this.#from.counts.times.awaitUpload(false, this.#clock.monotonicMs());
    if (end !== 'complete') this.#from.rest.discard();
  }

  /** One timer for the whole body: making one for each chunk costs as much as handling the chunk. */
  #watch(delayMs: number): void {
    this.#idle = this.#clock.setTimer(delayMs, () => {
      this.#from.guard.run(() => {
        const idleMs = this.#isAwaited() ? this.#clock.monotonicMs() - this.#progressMs : 0;
        if (idleMs < this.#idleTimeoutMs) this.#watch(this.#idleTimeoutMs - idleMs);
        else
          this.#fail(
            new GatewayError('request_timeout', 'The request body timed out.'),
            'timed_out',
          );
      });
    });
  }
}
