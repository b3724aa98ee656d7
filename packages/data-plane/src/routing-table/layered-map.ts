/** The read methods of a `Map`. */
export type Lookup<V> = Pick<ReadonlyMap<string, V>, 'get' | 'has' | 'size' | 'keys' | 'values'> &
  Iterable<[string, V]>;

/** A layer up to this size is never merged into the base. */
const MIN_LAYER = 64;
/** A layer may have this many times √(base size) entries: balances the cost of a change and of a merge. */
const LAYER_SHARE = 4;

/**
 * An immutable map. A changed map costs far less than a copy: it shares the base and keeps the changes
 * in a small layer on top. A layer that has grown is merged into a new base.
 */
export class LayeredMap<V> implements Lookup<V> {
  readonly size: number;
  readonly #base: ReadonlyMap<string, V>;
  /** undefined: the key is removed. */
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

  /** @param entries must not change afterwards */
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
   * A map with these keys set; undefined removes a key. Copies the layer and the changes, and now and
   * then the whole map.
   */
  with(changes: ReadonlyMap<string, V | undefined>): LayeredMap<V> {
    if (changes.size === 0) return this;
    const layer = new Map(this.#layer);
    let size = this.size;
    for (const [key, value] of changes) {
      size += (value === undefined ? 0 : 1) - (this.has(key) ? 1 : 0);
      // A key that the base does not have needs no mark for its removal.
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
