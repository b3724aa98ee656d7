/** The time that a bucket keeps an entry is divided into so many parts, each counted as a whole. */
const SLICES = 10;

/** Where the bytes of an entry are counted. */
interface Place {
  readonly owner: string;
  readonly slice: number;
  readonly bytes: number;
}

/**
 * The bytes that each owner has in a bucket, as far as this process has written them. Bytes count until the bucket has
 * removed them, so that nothing must be told of it.
 */
export class HeldBytes {
  readonly #sliceMs: number;
  readonly #totals = new Map<string, number>();
  /** By slice: what each owner has written in it, the oldest slice first. */
  readonly #slices = new Map<number, Map<string, number>>();
  /** By entry, so that one that is written again counts once. */
  readonly #places = new WeakMap<object, Place>();

  /** @param keptMs how long the bucket keeps an entry after the last write */
  constructor(keptMs: number) {
    this.#sliceMs = keptMs / SLICES;
  }

  /** @param nowMs by the monotonic clock */
  of(owner: string, nowMs: number): number {
    this.#forgetUntil(this.#sliceOf(nowMs));
    return this.#totals.get(owner) ?? 0;
  }

  /**
   * An entry was written.
   *
   * @param nowMs by the monotonic clock
   * @param entry an object that stands for it; if it was written before, these bytes replace the former ones
   */
  wrote(owner: string, bytes: number, nowMs: number, entry?: object): void {
    const slice = this.#sliceOf(nowMs);
    this.#forgetUntil(slice);
    if (entry !== undefined) {
      const former = this.#places.get(entry);
      if (former !== undefined && this.#slices.has(former.slice)) {
        this.#count(former.slice, former.owner, -former.bytes);
      }
      this.#places.set(entry, { owner, slice, bytes });
    }
    this.#count(slice, owner, bytes);
  }

  #sliceOf(nowMs: number): number {
    return Math.floor(nowMs / this.#sliceMs);
  }

  #count(slice: number, owner: string, bytes: number): void {
    let written = this.#slices.get(slice);
    if (written === undefined) this.#slices.set(slice, (written = new Map<string, number>()));
    written.set(owner, (written.get(owner) ?? 0) + bytes);
    this.#change(owner, bytes);
  }

  #change(owner: string, bytes: number): void {
    const total = (this.#totals.get(owner) ?? 0) + bytes;
    if (total > 0) this.#totals.set(owner, total);
    else this.#totals.delete(owner);
  }

  #forgetUntil(now: number): void {
    for (const [slice, written] of this.#slices) {
      if (slice >= now - SLICES) return;
      this.#slices.delete(slice);
      for (const [owner, bytes] of written) this.#change(owner, -bytes);
    }
  }
}
