import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestContext } from '../pipeline/context.ts';
import { outcomeOf } from '../pipeline/record.ts';
import { CountTable, DurationTable } from './tables.ts';

export interface TrafficMetrics {
  /** Counts a request that is over. */
  observe(ctx: RequestContext, totalMs: number): void;
  /** Counts bytes on the data path that were no HTTP, by the parser's reason. */
  malformed(reason: string): void;
}

export interface TrafficGauges {
  readonly inFlight: () => number;
  /** Counters that were dropped at the bound of a store, by the store's name. */
  readonly dropped: Readonly<Record<string, () => number>>;
}

/** Past so many routes the rest is counted under `other`, so that the metrics are bounded. */
const MAX_ROUTES = 20_000;
const OTHER = { environment: 'other', route: 'other' };

/**
 * Metrics of the data path. A request touches a few numbers in memory; texts are made when Prometheus
 * asks. Only routes that exist become labels, never a name that a caller made up.
 */
export function createTrafficMetrics(registry: Registry, gauges: TrafficGauges): TrafficMetrics {
  const requests = new CountTable(
    registry,
    'gateway_requests_total',
    'Requests of the data path, by route, status and outcome.',
    ['environment', 'route', 'status', 'outcome', 'code'],
    MAX_ROUTES * 4,
  );
  const attempts = new CountTable(
    registry,
    'gateway_upstream_attempts_total',
    'Attempts to reach an upstream, by service and result.',
    ['service', 'result'],
    MAX_ROUTES,
  );
  const total = new DurationTable(
    registry,
    'gateway_request_duration_seconds',
    'Time from the arrival of a request to the end of its response.',
    ['environment', 'route'],
    MAX_ROUTES,
  );
  const gateway = new DurationTable(
    registry,
    'gateway_latency_seconds',
    'Time spent in the gateway itself, without the wait for the upstream.',
    [],
    1,
  );
  const malformed = new Counter({
    name: 'gateway_malformed_requests_total',
    help: 'Requests that were not well-formed HTTP.',
    labelNames: ['reason'],
    registers: [registry],
  });
  new Gauge({
    name: 'gateway_requests_in_flight',
    help: 'Requests under way.',
    registers: [registry],
    collect() {
      this.set(gauges.inFlight());
    },
  });
  new Gauge({
    name: 'gateway_dropped_counters_total',
    help: 'Counters that were dropped at the bound of a store, and so forgot what was used.',
    labelNames: ['store'],
    registers: [registry],
    collect() {
      for (const [store, count] of Object.entries(gauges.dropped)) this.set({ store }, count());
    },
  });

  return {
    observe(ctx, totalMs) {
      const { environment, name: route } = ctx.route ?? { ...OTHER, name: OTHER.route };
      const status = ctx.status === undefined ? '' : String(ctx.status);
      requests.add([environment, route, status, outcomeOf(ctx), ctx.errorCode ?? '']);
      total.observe([environment, route], totalMs / 1000);
      gateway.observe([], ctx.gatewayMs / 1000);
      const service = ctx.version?.service.id ?? 'other';
      for (const attempt of ctx.attempts) {
        attempts.add([service, attempt.error ?? String(attempt.status ?? '')]);
      }
    },
    malformed: (reason) => malformed.inc({ reason }),
  };
}
