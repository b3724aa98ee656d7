import { messageOf } from '../errors/message-of.ts';
import { pause, type Clock, type Timer } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Rejected } from './partial-success.ts';
import type { Span } from './span.ts';

export interface SpanQueueOptions {
  /** Sends a batch; rejects if it was not delivered. Returns what the receiver rejected of it. */
  readonly send: (spans: readonly Span[]) => Promise<Rejected | undefined>;
  readonly maxSpans: number;
  readonly maxBatchSpans: number;
  /** The longest wait of a span for a batch that is not full, ms. */
  readonly delayMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Collects spans and sends them in batches, one at a time. A receiver that is away costs bounded memory and nothing else. */
export class SpanQueue {
  exported = 0;
  /** Spans that were dropped because the queue was full. */
  dropped = 0;
  /** Spans that the receiver did not take. */
  failed = 0;
  /** Spans that the receiver rejected of batches that it took. */
  rejected = 0;
  readonly #options: SpanQueueOptions;
  #waiting: Span[] = [];
  #timer: Timer | undefined = undefined;
  #sending: Promise<void> | undefined = undefined;
  #failing = false;
  #rejecting = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Adds the spans of one request, all or none. */
  add(spans: readonly Span[]): void {
    const { maxSpans, maxBatchSpans, delayMs, clock } = this.#options;
    if (this.#waiting.length + spans.length > maxSpans) {
      this.dropped += spans.length;
      return;
    }
    this.#waiting.push(...spans);
    if (this.#waiting.length >= Math.min(maxBatchSpans, maxSpans)) this.#sendNext();
    else this.#timer ??= clock.setTimer(delayMs, () => this.#sendNext());
  }

  /** Sends what waits, for at most this time. */
  async close(timeoutMs: number): Promise<void> {
    const { clock, log } = this.#options;
    const endMs = clock.monotonicMs() + timeoutMs;
    const deadline = pause(clock, timeoutMs);
    this.#sendNext();
    while (this.#sending !== undefined && clock.monotonicMs() < endMs) {
      await Promise.race([this.#sending, deadline]);
      this.#sendNext();
    }
    this.#timer?.cancel();
    const left = this.#waiting.length;
    if (left > 0) log.warn({ spans: left }, 'spans not exported before the stop');
  }

  #sendNext(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, this.#options.maxBatchSpans);
    this.#sending = this.#options
      .send(batch)
      .then(
        (rejected) => this.#delivered(batch.length, rejected),
        (error: unknown) => this.#lost(batch.length, error),
      )
      .then(() => {
        this.#sending = undefined;
        this.#continue();
      });
  }

  #continue(): void {
    const { maxBatchSpans, delayMs, clock } = this.#options;
    if (this.#waiting.length >= maxBatchSpans) this.#sendNext();
    else if (this.#waiting.length > 0) {
      this.#timer ??= clock.setTimer(delayMs, () => this.#sendNext());
    }
  }

  #delivered(count: number, part: Rejected | undefined): void {
    const rejected = Math.min(count, part?.count ?? 0);
    this.exported += count - rejected;
    this.rejected += rejected;
    if (part !== undefined && !this.#rejecting) {
      const fields = { rejected, spans: count, reason: part.reason };
      this.#options.log.warn(fields, 'spans rejected by the receiver');
    }
    this.#rejecting = part !== undefined;
    if (this.#failing) this.#options.log.info('span export recovered');
    this.#failing = false;
  }

  #lost(count: number, error: unknown): void {
    this.failed += count;
    const reason = messageOf(error);
    if (!this.#failing) this.#options.log.warn({ reason }, 'span export failed');
    this.#failing = true;
  }
}
