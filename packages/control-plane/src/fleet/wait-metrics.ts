import { Counter, Gauge, type Registry } from 'prom-client';

export interface WaitMetrics {
  readonly waits: Counter;
  /** Registers the gauge of waiting writes, which is read at each scrape. */
  observe(waiting: () => number): void;
}

/** Creates the metrics of `Prefer: wait`. */
export function createWaitMetrics(registry: Registry): WaitMetrics {
  const registers = [registry];
  return {
    waits: new Counter({
      name: 'gateway_control_plane_waits_total',
      help: 'Writes with Prefer: wait, by result',
      labelNames: ['result'],
      registers,
    }),
    observe(waiting) {
      new Gauge({
        name: 'gateway_control_plane_waiting',
        help: 'Writes that wait for the data planes',
        registers,
        collect() {
          this.set(waiting());
        },
      });
    },
  };
}
