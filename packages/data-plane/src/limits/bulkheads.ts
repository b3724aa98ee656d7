import type {
  CompiledRoute,
  CompiledService,
  RoutingTable,
} from '../routing-table/routing-table.ts';
import { FairSlots } from './fair-slots.ts';
import { Loads, type Load } from './load.ts';

export interface BulkheadOptions {
  /** Requests that this process may have in flight. */
  readonly max: number;
  /** Processes of this data plane, which share the limits of a service. */
  readonly processes: number;
}

/** The part of a request context in which a slot is registered. */
export interface SlotHolder {
  onFinish(undo: () => void): void;
}

/** Which limit is reached: that of the service, that of the process, or the share of the route in the process. */
export type BulkheadRefusal =
  | { readonly of: 'service'; readonly max: number }
  | { readonly of: 'process' | 'route' };

const PROCESS_FULL: BulkheadRefusal = { of: 'process' };
const ROUTE_FULL: BulkheadRefusal = { of: 'route' };

/**
 * The slots for requests of one kind. Each service has a limit, so that one that hangs leaves slots for the others; the
 * routes share what is left fairly. A request costs two map lookups and three increments.
 */
export class Bulkheads {
  readonly #slots: FairSlots;
  readonly #services = new Loads();
  readonly #options: BulkheadOptions;
  #table: RoutingTable | undefined = undefined;
  #defaultMax = 0;

  constructor(options: BulkheadOptions) {
    this.#options = options;
    this.#slots = new FairSlots(options.max);
  }

  /** Slots in use. */
  get count(): number {
    return this.#slots.count;
  }

  get isFull(): boolean {
    return this.#slots.isFull;
  }

  /** The slots of a service. */
  loadOf(serviceId: string): Load {
    return this.#services.of(serviceId);
  }

  /**
   * Takes a slot until the request is over.
   *
   * @returns undefined, or the limit that is reached; then the request holds no slot
   */
  tryTake(
    holder: SlotHolder,
    route: CompiledRoute,
    service: CompiledService,
    table: RoutingTable,
  ): BulkheadRefusal | undefined {
    const slots = this.#slots;
    if (slots.isFull) return PROCESS_FULL;
    const load = this.#services.of(service.id);
    const max = this.maxOf(service, table);
    if (load.count >= max) return { of: 'service', max };
    const tenant = slots.loadOf(route.id);
    if (!slots.hasRoomFor(tenant)) return ROUTE_FULL;
    load.take();
    slots.take(tenant);
    holder.onFinish(load.release);
    holder.onFinish(tenant.release);
    holder.onFinish(slots.release);
    return undefined;
  }

  /** The most requests that the service may have in flight in this process. */
  maxOf(service: CompiledService, table: RoutingTable): number {
    const { maxInFlight } = service.limits;
    if (maxInFlight !== undefined) return Math.ceil(maxInFlight / this.#options.processes);
    if (table !== this.#table) {
      this.#table = table;
      this.#defaultMax = defaultMax(this.#options.max, table);
    }
    return this.#defaultMax;
  }
}

/** Half of the slots, so that a service leaves as many for the others as it takes; all of them if there are no others. */
function defaultMax(max: number, table: RoutingTable): number {
  let services = 0;
  for (const environment of table.environments.values()) services += environment.services.size;
  return services > 1 ? Math.max(1, Math.floor(max / 2)) : max;
}
