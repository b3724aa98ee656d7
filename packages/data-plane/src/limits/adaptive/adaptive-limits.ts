import { Gauge, type Registry } from 'prom-client';
import type { CompiledService, Replaced, RoutingTable } from '../../routing-table/routing-table.ts';
import { AdaptiveLimit } from './adaptive-limit.ts';

/** The number of services that have their own time series. */
const MAX_SERVICE_ROWS = 1000;

/** The adaptive limits of the services that have one. A limit outlives a change of its service. */
export class AdaptiveLimits {
  readonly #limits = new Map<string, AdaptiveLimit>();
  readonly #wallMs: () => number;

  constructor(registry: Registry, wallMs: () => number) {
    this.#wallMs = wallMs;
    const limits = this.#limits;
    const rowsOf = (gauge: Gauge<'service_id'>, value: (limit: AdaptiveLimit) => number) => {
      gauge.reset();
      for (const [id, limit] of [...limits].slice(0, MAX_SERVICE_ROWS)) {
        gauge.set({ service_id: id }, value(limit));
      }
    };
    new Gauge({
      name: 'gateway_service_adaptive_limit',
      help: `Requests that may wait for a response of a service with limits.adaptive, for the first ${MAX_SERVICE_ROWS} of them`,
      labelNames: ['service_id'],
      registers: [registry],
      collect() {
        rowsOf(this, ({ limit }) => limit);
      },
    });
    new Gauge({
      name: 'gateway_service_waiting_requests',
      help: `Requests that wait for a response of a service with limits.adaptive, for the first ${MAX_SERVICE_ROWS} of them`,
      labelNames: ['service_id'],
      registers: [registry],
      collect() {
        rowsOf(this, ({ waiting }) => waiting);
      },
    });
  }

  /** The limit of a service with `limits.adaptive`. */
  of(serviceId: string): AdaptiveLimit | undefined {
    return this.#limits.get(serviceId);
  }

  /** Follows a new configuration. */
  reconcile(table: RoutingTable): void {
    const kept = new Set<string>();
    for (const { services } of table.environments.values()) {
      for (const service of services.values()) if (service.limits.adaptive) kept.add(service.id);
    }
    for (const id of this.#limits.keys()) if (!kept.has(id)) this.#limits.delete(id);
    for (const id of kept) this.#add(id);
  }

  /** Like `reconcile`, for a table in which only these services differ. */
  change(services: readonly Replaced<CompiledService>[]): void {
    for (const { before, after } of services) {
      if (after?.limits.adaptive === true) this.#add(after.id);
      else if (before?.limits.adaptive === true) this.#limits.delete(before.id);
    }
  }

  #add(id: string): void {
    if (!this.#limits.has(id)) this.#limits.set(id, new AdaptiveLimit(this.#wallMs));
  }
}
