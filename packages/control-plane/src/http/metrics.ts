import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface HttpMetrics {
  readonly requests: Counter<'method' | 'route' | 'status'>;
  readonly duration: Histogram<'method' | 'route'>;
  /** Connections that were refused or could not be accepted, and requests that node:http could not parse. */
  readonly refused: Counter<'reason'>;
}

const PREFIX = 'gateway_control_plane';

/** The metrics of the management API. `route` is the path pattern of an endpoint, so the number of series is bounded. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  return {
    requests: new Counter({
      name: `${PREFIX}_http_requests_total`,
      help: 'Management calls, by method, endpoint and status; status 0: the client disconnected',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    }),
    duration: new Histogram({
      name: `${PREFIX}_http_request_duration_seconds`,
      help: 'Time from the arrival of a management call to the end of its response',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    refused: new Counter({
      name: `${PREFIX}_http_refused_total`,
      help: 'Requests that were not valid HTTP or did not arrive in time, and connections above the limit or that could not be accepted',
      labelNames: ['reason'],
      registers: [registry],
    }),
  };
}

export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Reports the state of the Postgres pool when the metrics are read. */
export function observePool(registry: Registry, poolUse: () => PoolUse): void {
  new Gauge({
    name: `${PREFIX}_postgres_connections`,
    help: 'Connections of the Postgres pool by state, and calls that wait for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { total, idle, waiting } = poolUse();
      this.set({ state: 'used' }, total - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

/** Reports how many rate counters were dropped because there were too many of them. */
export function observeDroppedCounters(registry: Registry, dropped: () => number): void {
  new Gauge({
    name: `${PREFIX}_rate_counters_dropped`,
    help: 'Rate counters of addresses and tokens that were dropped to make room for others',
    registers: [registry],
    collect() {
      this.set(dropped());
    },
  });
}
