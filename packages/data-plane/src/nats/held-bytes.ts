/** The time that a bucket keeps an entry is divided into so many parts, each counted as a whole. */
const SLICES = 10;

/** Where the bytes of an entry are counted. */
export interface HeldPlace {
  readonly owner: string;
  readonly slice: number;
  readonly bytes: number;
}

/** What stands for an entry. Its place is kept here: a collection of the heap takes longer for each key of a WeakMap. */
export interface HeldEntry {
  held?: HeldPlace | undefined;
}

interface Forgotten {
  readonly entries: number;
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
  /** By slice: how many of the entries of each owner in it were forgotten, and their bytes. */
  readonly #forgotten = new Map<number, Map<string, Forgotten>>();

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
   * @param entry what stands for it; if it was written before, these bytes replace the former ones
   * @param existed whether the bucket had the entry before. Then they may replace those of one that was forgotten
   */
  wrote(owner: string, bytes: number, nowMs: number, entry?: HeldEntry, existed = false): void {
    const slice = this.#sliceOf(nowMs);
    this.#forgetUntil(slice);
    const former = this.#placeOf(entry) ?? (existed ? this.#takeForgotten(owner) : undefined);
    if (former !== undefined) this.#count(former.slice, former.owner, -former.bytes);
    if (entry !== undefined) entry.held = { owner, slice, bytes };
    this.#count(slice, owner, bytes);
  }

  /** The bucket keeps the entry, but if it is written again, another object stands for it. */
  forgot(entry: HeldEntry): void {
    const place = this.#placeOf(entry);
    entry.held = undefined;
    if (place === undefined) return;
    const { slice, owner, bytes } = place;
    let owners = this.#forgotten.get(slice);
    if (owners === undefined) this.#forgotten.set(slice, (owners = new Map<string, Forgotten>()));
    const before = owners.get(owner) ?? { entries: 0, bytes: 0 };
    owners.set(owner, { entries: before.entries + 1, bytes: before.bytes + bytes });
  }

  /** Where the entry is counted now. */
  #placeOf(entry: HeldEntry | undefined): HeldPlace | undefined {
    const place = entry?.held;
    return place !== undefined && this.#slices.has(place.slice) ? place : undefined;
  }

  /** Takes the oldest entry of the owner that was forgotten. Which one it was does not matter: each counts longer. */
  #takeForgotten(owner: string): HeldPlace | undefined {
    let oldest: number | undefined;
    for (const [slice, owners] of this.#forgotten) {
      if (owners.has(owner) && (oldest === undefined || slice < oldest)) oldest = slice;
    }
    if (oldest === undefined) return undefined;
    const owners = this.#forgotten.get(oldest);
    const found = owners?.get(owner);
    if (owners === undefined || found === undefined) return undefined;
    const bytes = Math.floor(found.bytes / found.entries);
    if (found.entries === 1) owners.delete(owner);
    else owners.set(owner, { entries: found.entries - 1, bytes: found.bytes - bytes });
    return { owner, slice: oldest, bytes };
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
      this.#forgotten.delete(slice);
      for (const [owner, bytes] of written) this.#change(owner, -bytes);
    }
  }
}
