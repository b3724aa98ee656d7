import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Registry } from 'prom-client';
import type { CompiledService } from '../routing-table/routing-table.ts';
import { CountTable } from '../telemetry/tables.ts';

/** A limit of a service; a label of the metric. */
export type ServiceLimit = 'max_in_flight' | 'max_connections' | 'max_pending' | 'adaptive';

/** Requests of the data path that have slots of their own. */
export type SlotKind = 'requests' | 'websockets';

/** Why the gateway itself refused a request; a label of the metric. */
export type ShedReason =
  | SlotKind
  | `${SlotKind}_of_route`
  | 'pass_through'
  | 'pass_through_unauthenticated'
  | 'unauthenticated';

/** How long a service counts as overloaded after it refused a request. */
const RECENT_MS = 10_000;
/** How many overloaded services a reason names. */
const SHOWN_SERVICES = 10;
/** Services above this number are counted under `other`, so that the metric is bounded. */
const MAX_ROWS = 20_000;

/** Makes and counts the refusals of requests above a limit, and knows which services were overloaded lately. */
export class Overloads {
  readonly #clock: Clock;
  readonly #services: CountTable;
  readonly #shed: CountTable;
  /** Service id → when it last refused a request; ms, monotonic. */
  readonly #refusedAtMs = new Map<string, number>();

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    this.#services = new CountTable(
      registry,
      'gateway_upstream_overloaded_total',
      'Requests that were refused because their service was at one of its limits, by service and limit',
      ['service', 'reason'],
      MAX_ROWS,
    );
    this.#shed = new CountTable(
      registry,
      'gateway_requests_shed_total',
      'Requests that were refused because the data plane was at one of its limits, by limit',
      ['reason'],
      MAX_ROWS,
    );
  }

  /** The refusal of a request whose service is at a limit. */
  ofService(service: CompiledService, limit: ServiceLimit, value: number): GatewayError {
    this.#services.at([service.id, limit]).count += 1;
    this.#refusedAtMs.set(service.id, this.#clock.monotonicMs());
    return new GatewayError(
      'upstream_overloaded',
      `The service ${service.name} is overloaded: its limit ${limit} of ${value} is reached.`,
      { headers: { 'retry-after': '1' } },
    );
  }

  /** The refusal of a request for which this data plane has no room. */
  ofGateway(reason: ShedReason, message: string): GatewayError {
    this.#shed.at([reason]).count += 1;
    return new GatewayError('gateway_overloaded', message, { headers: { 'retry-after': '1' } });
  }

  /** The refusal of a request if all slots of its kind are in use. */
  full(kind: SlotKind): GatewayError {
    return this.ofGateway(kind, `Too many ${kind} are in flight.`);
  }

  /** Ids of the services that refused a request lately. */
  recent(): readonly string[] {
    const sinceMs = this.#clock.monotonicMs() - RECENT_MS;
    for (const [id, atMs] of this.#refusedAtMs) if (atMs < sinceMs) this.#refusedAtMs.delete(id);
    return [...this.#refusedAtMs.keys()];
  }

  /** The reasons why this data plane is degraded: one line, if any service was overloaded lately. */
  reasons(): readonly string[] {
    const services = this.recent();
    if (services.length === 0) return [];
    const shown = services.slice(0, SHOWN_SERVICES).join(', ');
    const more = services.length > SHOWN_SERVICES ? ' and more' : '';
    return [`services at one of their limits: ${shown}${more}`];
  }
}
