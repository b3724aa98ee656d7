import { pause, type Clock, type Timer } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Period, PrometheusMetric } from './to-metric-data.ts';

export interface MetricExportOptions {
  readonly read: () => Promise<readonly PrometheusMetric[]>;
  /** Rejects if they were not delivered. */
  readonly send: (metrics: readonly PrometheusMetric[], period: Period) => Promise<void>;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Exports all metrics of a process at an interval, and once more at its end. */
export class MetricExport {
  exported = 0;
  failed = 0;
  readonly #options: MetricExportOptions;
  readonly #startMs: number;
  #timer: Timer | undefined = undefined;
  #sending: Promise<void> | undefined = undefined;
  #failing = false;

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
      await send(await read(), { startMs: this.#startMs, endMs: clock.nowMs() });
      this.exported += 1;
      if (this.#failing) log.info('metric export recovered');
      this.#failing = false;
    } catch (error) {
      this.failed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#failing) log.warn({ reason }, 'metric export failed');
      this.#failing = true;
    }
  }
}
