import { Instruments } from '@gateway/shared/telemetry/instruments';
import { Counter, Gauge, type Registry } from 'prom-client';
import { HEALTH_AFTER, type HealthName } from './upstream-state.ts';

export interface HealthMetrics {
  readonly checks: Counter<'result'>;
  readonly transitions: Counter<'to' | 'reason'>;
}

/** The id of a service, and the numbers of its upstreams that are healthy, that fail, and whose health is unknown. */
type ServiceCounts = readonly [string, readonly [number, number, number]];

/** Where the values of the gauges come from. */
export interface HealthGauges {
  readonly upstreams: () => Iterable<HealthName>;
  readonly inSlowStart: () => number;
  readonly waitingChecks: () => number;
  readonly services: () => Iterable<ServiceCounts>;
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
    help: `Healthy upstreams of a service, for ${MAX_SERVICE_ROWS} services at most; those without one come first`,
    labelNames: ['service_id'],
    registers,
    collect() {
      this.reset();
      for (const [id, healthy] of shownServices([...gauges.services()])) {
        this.set({ service_id: id }, healthy);
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
      'Health checks, by result; not_made: by a fault of this data plane',
      'result',
      ['good', 'bad', 'not_made'],
    ),
    transitions,
  };
}

/** The ids and the numbers of healthy upstreams of the services that have a series. An alert needs those without one. */
function shownServices(services: readonly ServiceCounts[]): (readonly [string, number])[] {
  const counts = services.map(([id, [healthy]]) => [id, healthy] as const);
  if (counts.length <= MAX_SERVICE_ROWS) return counts;
  const down = counts.filter(([, healthy]) => healthy === 0);
  return [...down, ...counts.filter(([, healthy]) => healthy > 0)].slice(0, MAX_SERVICE_ROWS);
}
