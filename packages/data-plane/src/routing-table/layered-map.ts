/** What a table is looked up in: a `Map` is one. */
export type Lookup<V> = Pick<ReadonlyMap<string, V>, 'get' | 'has' | 'size' | 'keys' | 'values'> &
  Iterable<[string, V]>;

/** Below this a layer is never folded in. */
const MIN_LAYER = 64;
/** Times the square root of the size: what a change copies, and how often all is copied, are in balance. */
const LAYER_SHARE = 4;

/**
 * A map that never changes, of which a changed one costs far less than a copy: it shares what it does
 * not change, under a small layer of what it does. A layer that has grown is folded in.
 */
export class LayeredMap<V> implements Lookup<V> {
  readonly size: number;
  readonly #base: ReadonlyMap<string, V>;
  /** undefined: what the base has under this key is not there. */
  readonly #layer: ReadonlyMap<string, V | undefined>;

  private constructor(
    base: ReadonlyMap<string, V>,
    layer: ReadonlyMap<string, V | undefined>,
    size: number,
  ) {
    this.#base = base;
    this.#layer = layer;
    this.size = size;
  }

  /** @param entries is not changed any more */
  static of<V>(entries: ReadonlyMap<string, V>): LayeredMap<V> {
    return new LayeredMap<V>(entries, new Map<string, V | undefined>(), entries.size);
  }

  get(key: string): V | undefined {
    const layer = this.#layer;
    if (layer.size > 0) {
      const changed = layer.get(key);
      if (changed !== undefined || layer.has(key)) return changed;
    }
    return this.#base.get(key);
  }

  has(key: string): boolean {
    return this.#layer.has(key) ? this.#layer.get(key) !== undefined : this.#base.has(key);
  }

  /**
   * This one with these keys set, or without them where the value is undefined. Costs what the layer
   * and the changes hold, but for once in a while.
   */
  with(changes: ReadonlyMap<string, V | undefined>): LayeredMap<V> {
    if (changes.size === 0) return this;
    const layer = new Map(this.#layer);
    let size = this.size;
    for (const [key, value] of changes) {
      size += (value === undefined ? 0 : 1) - (this.has(key) ? 1 : 0);
      // What the base does not have needs no mark that it is gone.
      if (value === undefined && !this.#base.has(key)) layer.delete(key);
      else layer.set(key, value);
    }
    if (layer.size <= Math.max(MIN_LAYER, LAYER_SHARE * Math.sqrt(this.#base.size))) {
      return new LayeredMap(this.#base, layer, size);
    }
    const base = new Map(this.#base);
    for (const [key, value] of layer) {
      if (value === undefined) base.delete(key);
      else base.set(key, value);
    }
    return LayeredMap.of(base);
  }

  *[Symbol.iterator](): MapIterator<[string, V]> {
    for (const entry of this.#base) if (!this.#layer.has(entry[0])) yield entry;
    for (const [key, value] of this.#layer) if (value !== undefined) yield [key, value];
  }

  *keys(): MapIterator<string> {
    for (const [key] of this) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this) yield value;
  }
}
