/** A delta as the chain sees it. */
export interface ChainDelta {
  readonly from: number;
  readonly version: number;
  readonly bytes: number;
}

/** A snapshot that may be loaded. */
export interface ChainSnapshot {
  readonly version: number;
  /** Whether deltas have made this version already, so that they may be on their way. */
  readonly repeats: boolean;
}

export type ChainStep<D, S> =
  | { readonly do: 'apply'; readonly delta: D }
  | { readonly do: 'load'; readonly snapshot: S }
  /** What is there does not lead on. For a moment something better may still come. */
  | { readonly do: 'wait'; readonly then: 'load' | 'ask' }
  /** No snapshot is known that leads on: one is to be asked for. */
  | { readonly do: 'ask' }
  | { readonly do: 'rest' };

/** More than publishers leave between two snapshots. */
const MAX_DELTAS = 8192;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * What to do next to get from the version that is served to the newest one, of what has come so far:
 * deltas and snapshots in any order, more than once, or never. It only goes forward. What it does not
 * keep, as it is too much, it counts as missed.
 *
 * Whatever came, in the end the newest version of all that was offered is served, or a snapshot is
 * asked for, or what would have led there was refused.
 */
export class VersionChain<D extends ChainDelta, S extends ChainSnapshot> {
  #served = 0;
  /** The newest version that is known to be there. */
  #newest = 0;
  #snapshot: S | undefined;
  readonly #deltas = new Map<number, D>();
  #bytes = 0;

  /** 0: nothing is served yet. */
  get served(): number {
    return this.#served;
  }

  /** Whether something newer than what is served is known to be there. */
  get isBehind(): boolean {
    return this.#newest > this.#served;
  }

  /** @returns false where it is of no use, as a newer version is served */
  offerDelta(delta: D): boolean {
    if (delta.version <= this.#served) return false;
    this.#newest = Math.max(this.#newest, delta.version);
    this.#forget(delta.from);
    this.#deltas.set(delta.from, delta);
    this.#bytes += delta.bytes;
    if (this.#deltas.size > MAX_DELTAS || this.#bytes > MAX_BYTES) this.#forgetAll();
    return true;
  }

  /** @returns false where it is of no use, as it is not newer than what is served */
  offerSnapshot(snapshot: S): boolean {
    if (snapshot.version <= this.#served) return false;
    this.#newest = Math.max(this.#newest, snapshot.version);
    if (snapshot.version >= (this.#snapshot?.version ?? 0)) this.#snapshot = snapshot;
    return true;
  }

  /** @param waited whether what it said to wait for did not come */
  next(waited: boolean): ChainStep<D, S> {
    const snapshot = this.#snapshot;
    const delta = this.#served === 0 ? undefined : this.#deltas.get(this.#served);
    // Deltas cost less, but they do not lead through a version that only a snapshot makes.
    if (snapshot !== undefined && !snapshot.repeats) return { do: 'load', snapshot };
    if (delta !== undefined) return { do: 'apply', delta };
    if (snapshot !== undefined) {
      const isLate = waited || this.#served === 0;
      return isLate ? { do: 'load', snapshot } : { do: 'wait', then: 'load' };
    }
    if (!this.isBehind) return { do: 'rest' };
    return waited ? { do: 'ask' } : { do: 'wait', then: 'ask' };
  }

  /** A delta or a snapshot is served now. */
  serves(version: number): void {
    const applied = this.#deltas.get(this.#served)?.version === version;
    if (applied) this.#forget(this.#served);
    this.#served = version;
    this.#newest = Math.max(this.#newest, version);
    for (const delta of applied ? [] : this.#deltas.values()) {
      if (delta.version <= version) this.#forget(delta.from);
    }
    if (this.#snapshot !== undefined && this.#snapshot.version <= version) {
      this.#snapshot = undefined;
    }
  }

  /** It cannot be served. What comes after a delta then needs a snapshot. */
  refused(step: { readonly delta: D } | { readonly snapshot: S }): void {
    if ('delta' in step) this.#forget(step.delta.from);
    else if (this.#snapshot === step.snapshot) this.#snapshot = undefined;
  }

  #forget(from: number): void {
    this.#bytes -= this.#deltas.get(from)?.bytes ?? 0;
    this.#deltas.delete(from);
  }

  #forgetAll(): void {
    this.#deltas.clear();
    this.#bytes = 0;
  }
}
