/** Counts the requests of one tenant (a route, a service, a token or an address) that are in flight. */
export class Load {
  count = 0;
  readonly #id: string;
  readonly #inUse: Map<string, Load>;

  /** @param inUse the loads that count a request, by id */
  constructor(id: string, inUse: Map<string, Load>) {
    this.#id = id;
    this.#inUse = inUse;
  }

  enter(): void {
    this.count += 1;
    if (this.count === 1) this.#inUse.set(this.#id, this);
  }

  /** Bound, so that a request can register it as its release without an allocation. */
  readonly leave = (): void => {
    this.count -= 1;
    if (this.count === 0) this.#inUse.delete(this.#id);
  };
}

/** The loads of all tenants that have a request in flight. So there are never more of them than requests. */
export class Loads {
  readonly #inUse = new Map<string, Load>();

  /** The load of a tenant. It is valid until the next call, or as long as it counts a request. */
  of(id: string): Load {
    return this.#inUse.get(id) ?? new Load(id, this.#inUse);
  }

  get size(): number {
    return this.#inUse.size;
  }
}
