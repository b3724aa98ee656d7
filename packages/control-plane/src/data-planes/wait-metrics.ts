import { Instruments } from '@gateway/shared/telemetry/instruments';
import { Gauge, type Counter, type Registry } from 'prom-client';
import { WAIT_RESULTS } from './wait-result.ts';

export interface WaitMetrics {
  readonly waits: Counter<'result'>;
  /** Registers the gauge of waiting writes, which is read at each scrape. */
  observe(waiting: () => number): void;
}

/** Creates the metrics of `Prefer: wait`. */
export function createWaitMetrics(registry: Registry): WaitMetrics {
  return {
    waits: new Instruments(registry).counterBy(
      'gateway_control_plane_waits_total',
      'Writes with Prefer: wait, by result',
      'result',
      WAIT_RESULTS,
    ),
    observe(waiting) {
      new Gauge({
        name: 'gateway_control_plane_waiting',
        help: 'Writes that wait for the data planes',
        registers: [registry],
        collect() {
          this.set(waiting());
        },
      });
    },
  };
}
