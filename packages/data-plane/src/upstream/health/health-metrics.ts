import { Counter, Gauge, type Registry } from 'prom-client';
import type { HealthName } from './upstream-state.ts';

export interface HealthMetrics {
  readonly checks: Counter<'result'>;
  readonly transitions: Counter<'to' | 'reason'>;
}

export interface HealthGauges {
  readonly upstreams: () => Iterable<HealthName>;
  readonly waitingChecks: () => number;
  /** Service id → upstreams that are healthy, fail, and are not known. */
  readonly services: () => Iterable<readonly [string, readonly [number, number, number]]>;
}

/** Services with a row of their own in the metrics; the sums hold all of them. */
const MAX_SERVICE_ROWS = 1000;
const NAMES: readonly HealthName[] = ['unknown', 'healthy', 'unhealthy', 'ejected', 'half_open'];

export function createHealthMetrics(registry: Registry, gauges: HealthGauges): HealthMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_upstreams',
    help: 'Upstreams by what this data plane knows of their health',
    labelNames: ['health'],
    registers,
    collect() {
      const counts = new Map<HealthName, number>(NAMES.map((name) => [name, 0]));
      for (const name of gauges.upstreams()) counts.set(name, (counts.get(name) ?? 0) + 1);
      for (const [health, count] of counts) this.set({ health }, count);
    },
  });
  new Gauge({
    name: 'gateway_service_healthy_upstreams',
    help: `Healthy upstreams of a service, for the first ${MAX_SERVICE_ROWS} services`,
    labelNames: ['service'],
    registers,
    collect() {
      this.reset();
      let rows = 0;
      for (const [service, [healthy]] of gauges.services()) {
        if (rows >= MAX_SERVICE_ROWS) break;
        rows += 1;
        this.set({ service }, healthy);
      }
    },
  });
  new Gauge({
    name: 'gateway_upstream_checks_waiting',
    help: 'Health checks that are due and wait for others to end',
    registers,
    collect() {
      this.set(gauges.waitingChecks());
    },
  });
  return {
    checks: new Counter<'result'>({
      name: 'gateway_upstream_checks_total',
      help: 'Health checks made',
      labelNames: ['result'],
      registers,
    }),
    transitions: new Counter<'to' | 'reason'>({
      name: 'gateway_upstream_transitions_total',
      help: 'Changes of an upstream’s health, and why',
      labelNames: ['to', 'reason'],
      registers,
    }),
  };
}
