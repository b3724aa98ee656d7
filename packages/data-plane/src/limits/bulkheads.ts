import type {
  CompiledRoute,
  CompiledService,
  RoutingTable,
} from '../routing-table/routing-table.ts';

/** Counts the requests of one tenant (a route, a service, a token or an address) that are in flight. */
export class Load {
  count = 0;
  readonly #id: string;
  readonly #kept: Map<string, Load>;
  #isKept = false;

  /** @param kept the loads that were used, by id */
  constructor(id: string, kept: Map<string, Load>) {
    this.#id = id;
    this.#kept = kept;
  }

  take(): void {
    this.count += 1;
    if (this.#isKept) return;
    this.#kept.set(this.#id, this);
    this.#isKept = true;
  }

  /** Bound, so that a request can register it as its release without an allocation. */
  readonly release = (): void => {
    this.count -= 1;
    if (this.count > 0 || this.#kept.size <= MAX_IDLE) return;
    this.#kept.delete(this.#id);
    this.#isKept = false;
  };
}

/**
 * If every request removed and added an entry, V8 would rebuild the map's table all the time: that cost a tenth of the CPU
 * time with 10 000 routes. About 20 MB if there are as many tenants.
 */
const MAX_IDLE = 100_000;

/** The loads of all tenants that have a request in flight, and of `MAX_IDLE` others at most. */
export class Loads {
  readonly #kept = new Map<string, Load>();

  /** The load of a tenant. It is valid until the next call, or as long as it counts a request. */
  of(id: string): Load {
    return this.#kept.get(id) ?? new Load(id, this.#kept);
  }

  get size(): number {
    return this.#kept.size;
  }
}

/** With 12, one tenant alone gets three quarters of the slots, and n that take all they get leave about 1/(12 n) free. */
const SHARE_OF_SQUARE = 12;

/**
 * A bounded number of requests, shared fairly. A tenant may take another slot only while it holds fewer than 12 × f² of
 * the slots, where f is the part of the slots that is free. The fewer are free, the fewer a tenant may hold, so those
 * that hold the most are refused first, and some slots stay free for those that hold few. Choudhury and Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches" (1998), use a multiple of f; docs/adr/0028 says why not here.
 */
export class FairSlots {
  readonly max: number;
  readonly #tenants = new Loads();
  #taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Slots in use. */
  get count(): number {
    return this.#taken;
  }

  get isFull(): boolean {
    return this.#taken >= this.max;
  }

  /** The slots of a tenant. */
  loadOf(id: string): Load {
    return this.#tenants.of(id);
  }

  /** Whether the tenant may take another slot. */
  hasRoomFor(tenant: Load): boolean {
    const free = this.max - this.#taken;
    return tenant.count * this.max < SHARE_OF_SQUARE * free * free;
  }

  /** Takes a slot for a tenant that may take one. The caller registers `release` and the `release` of the tenant. */
  take(tenant: Load): void {
    this.#taken += 1;
    tenant.take();
  }

  /** Returns a slot. Bound, so that a request can register it as its release without an allocation. */
  readonly release = (): void => {
    this.#taken -= 1;
  };
}

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
