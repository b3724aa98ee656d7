import { messageOf } from '../errors/message-of.ts';
import { pause, type Clock, type Timer } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Rejected } from './partial-success.ts';
import type { Period, PrometheusMetric } from './to-metric-data.ts';

export interface MetricExportOptions {
  readonly read: () => Promise<readonly PrometheusMetric[]>;
  /** Rejects if they were not delivered. Returns what the receiver rejected of them. */
  readonly send: (
    metrics: readonly PrometheusMetric[],
    period: Period,
  ) => Promise<Rejected | undefined>;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Exports all metrics of a process at an interval, and once more at its end. */
export class MetricExport {
  exported = 0;
  failed = 0;
  /** Exports of which the receiver rejected a part. */
  partial = 0;
  readonly #options: MetricExportOptions;
  readonly #startMs: number;
  #timer: Timer | undefined = undefined;
  #sending: Promise<void> | undefined = undefined;
  #failing = false;
  #rejecting = false;

  constructor(options: MetricExportOptions) {
    this.#options = options;
    this.#startMs = options.clock.nowMs();
    this.#wait();
  }

  /** Exports the last values, for at most this time. */
  async close(timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    this.#timer?.cancel();
    const deadline = pause(clock, timeoutMs);
    const last = (async () => {
      await this.#sending;
      await this.#export();
    })();
    await Promise.race([last, deadline]);
  }

  #wait(): void {
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.setTimer(intervalMs, () => {
      this.#sending = this.#export().then(() => this.#wait());
    });
  }

  async #export(): Promise<void> {
    const { read, send, clock, log } = this.#options;
    try {
      const rejected = await send(await read(), { startMs: this.#startMs, endMs: clock.nowMs() });
      if (rejected === undefined) this.exported += 1;
      else this.partial += 1;
      if (rejected !== undefined && !this.#rejecting) {
        const fields = { rejected: rejected.count, reason: rejected.reason };
        log.warn(fields, 'metrics rejected by the receiver');
      }
      this.#rejecting = rejected !== undefined;
      if (this.#failing) log.info('metric export recovered');
      this.#failing = false;
    } catch (error) {
      this.failed += 1;
      const reason = messageOf(error);
      if (!this.#failing) log.warn({ reason }, 'metric export failed');
      this.#failing = true;
    }
  }
}
