import { Instruments } from '@gateway/shared/telemetry/instruments';
import { Counter, Gauge, type Registry } from 'prom-client';
import { HEALTH_AFTER, type HealthName } from './upstream-state.ts';

export interface HealthMetrics {
  readonly checks: Counter<'result'>;
  readonly transitions: Counter<'to' | 'reason'>;
}

/** Where the values of the gauges come from. */
export interface HealthGauges {
  readonly upstreams: () => Iterable<HealthName>;
  readonly inSlowStart: () => number;
  readonly waitingChecks: () => number;
  /** By service id: the numbers of upstreams that are healthy, that fail, and whose health is unknown. */
  readonly services: () => Iterable<readonly [string, readonly [number, number, number]]>;
}

/** The number of services that have their own time series; the gauge of all upstreams counts the others too. */
const MAX_SERVICE_ROWS = 1000;
const NAMES: readonly HealthName[] = ['unknown', 'healthy', 'unhealthy', 'ejected', 'half_open'];

/** Registers the metrics of upstream health. */
export function createHealthMetrics(registry: Registry, gauges: HealthGauges): HealthMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_upstreams',
    help: 'Upstreams, by their health as this data plane sees it',
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
    name: 'gateway_upstreams_in_slow_start',
    help: 'Upstreams whose share of the requests still rises after they returned or were added',
    registers,
    collect() {
      this.set(gauges.inSlowStart());
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
  const transitions = new Counter({
    name: 'gateway_upstream_transitions_total',
    help: 'Changes of the health of an upstream, by new health and reason',
    labelNames: ['to', 'reason'],
    registers,
  });
  // As `counterBy` does for one label.
  for (const [reason, names] of Object.entries(HEALTH_AFTER)) {
    for (const to of names) transitions.inc({ to, reason }, 0);
  }
  return {
    checks: new Instruments(registry).counterBy(
      'gateway_upstream_checks_total',
      'Health checks, by result',
      'result',
      ['good', 'bad'],
    ),
    transitions,
  };
}
