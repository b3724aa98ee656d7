/** Counts the requests of one tenant (a route, a service, a token or an address) that are in flight. */
export class Load {
  count = 0;

  enter(): void {
    this.count += 1;
  }

  /** Bound, so that a request can register it as its release without an allocation. */
  readonly leave = (): void => {
    this.count -= 1;
  };
}

/** Below this number of loads none is removed. */
const MIN_SWEPT = 1024;

/**
 * The loads of all tenants, by id. They outlive a configuration. Idle ones are removed when the number of loads has
 * doubled since the last time, so that tenants that no longer exist use no memory for long.
 */
export class Loads {
  readonly #byId = new Map<string, Load>();
  #sweepAt = MIN_SWEPT;

  /** The load of a tenant. It is valid until the next call, or as long as it counts a request. */
  of(id: string): Load {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    if (this.#byId.size >= this.#sweepAt) this.#sweep();
    const load = new Load();
    this.#byId.set(id, load);
    return load;
  }

  get size(): number {
    return this.#byId.size;
  }

  #sweep(): void {
    for (const [id, { count }] of this.#byId) if (count === 0) this.#byId.delete(id);
    this.#sweepAt = Math.max(MIN_SWEPT, this.#byId.size * 2);
  }
}
