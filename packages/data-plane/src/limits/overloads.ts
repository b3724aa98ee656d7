import type { Clock } from '@gateway/shared/clock';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Registry } from 'prom-client';
import type { CompiledService } from '../routing-table/routing-table.ts';
import { CountTable, type Sweep } from '../telemetry/tables.ts';
import {
  SHED_REASONS,
  UNCOUNTED_REFUSALS,
  type OverloadRefusals,
  type ServiceLimit,
  type ShedReason,
} from './overload-refusals.ts';

/** How long a service counts as overloaded after it refused a request. */
const RECENT_MS = 10_000;
/** How many overloaded services a reason names. */
const SHOWN_SERVICES = 10;
/** Services above this number are counted under `other`, so that the metric is bounded. */
const MAX_ROWS = 20_000;

/** Makes and counts the refusals of requests above a limit, and knows which services were overloaded lately. */
export class Overloads implements OverloadRefusals {
  readonly #clock: Clock;
  readonly #services: CountTable;
  readonly #shed: CountTable;
  /** Service id → its name, and when it last refused a request; ms, monotonic. */
  readonly #refused = new Map<string, { readonly name: string; readonly atMs: number }>();

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    this.#services = new CountTable(
      registry,
      'gateway_upstream_overloaded_total',
      'Requests that were refused because their service was at one of its limits, by service and limit',
      ['service_id', 'reason'],
      MAX_ROWS,
    );
    this.#shed = new CountTable(
      registry,
      'gateway_requests_shed_total',
      'Requests that were refused because the data plane was at one of its limits, by limit',
      ['reason'],
      MAX_ROWS,
    );
    // An alert on the increase does not see the first event of a series that begins with it.
    for (const reason of SHED_REASONS) this.#shed.at([reason]);
  }

  /** The refusal of a request whose service is at a limit. */
  refuseForService(service: CompiledService, limit: ServiceLimit, value: number): GatewayError {
    this.#count(service, limit);
    return UNCOUNTED_REFUSALS.refuseForService(service, limit, value);
  }

  refuseForQueue(
    service: CompiledService,
    maxPending: number,
    maxConnections: number,
  ): GatewayError {
    this.#count(service, 'max_pending');
    return UNCOUNTED_REFUSALS.refuseForQueue(service, maxPending, maxConnections);
  }

  #count(service: CompiledService, limit: ServiceLimit): void {
    this.#services.at([service.id, limit]).count += 1;
    this.#refused.set(service.id, { name: service.name, atMs: this.#clock.monotonicMs() });
  }

  /** The refusal of a request for which this data plane has no room. */
  refuseHere(reason: ShedReason, message: string): GatewayError {
    this.#shed.at([reason]).count += 1;
    return UNCOUNTED_REFUSALS.refuseHere(reason, message);
  }

  /** Ends the series of services that are not in the configuration any more. */
  sweep(live: { hasServiceId(id: string): boolean }): Sweep {
    return this.#services.sweep(live, ([id = '']) => live.hasServiceId(id));
  }

  /** Ids of the services that refused a request lately. */
  recent(): readonly string[] {
    const sinceMs = this.#clock.monotonicMs() - RECENT_MS;
    for (const [id, { atMs }] of this.#refused) if (atMs < sinceMs) this.#refused.delete(id);
    return [...this.#refused.keys()];
  }

  /** The reasons why this data plane is degraded: one line, if any service was overloaded lately. */
  reasons(): readonly string[] {
    const services = this.recent();
    if (services.length === 0) return [];
    const shown = services
      .slice(0, SHOWN_SERVICES)
      .map((id) => `${this.#refused.get(id)?.name} (${id})`)
      .join(', ');
    const more = services.length > SHOWN_SERVICES ? ' and more' : '';
    return [`services that refuse requests at a limit: ${shown}${more}`];
  }
}
