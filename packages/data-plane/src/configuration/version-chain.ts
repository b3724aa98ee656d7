/** A delta of the log. */
export interface ChainDelta {
  readonly from: number;
  readonly version: number;
  readonly bytes: number;
  /** Id of its log entry. */
  readonly entryId: string;
}

/** A snapshot that the pointer names. */
export interface ChainSnapshot {
  readonly version: number;
  readonly sha256: string;
  /** Id of the delta's entry, if a delta made this version before; then the deltas may be on their way. */
  readonly entryId: string | undefined;
}

/** The version that is served, and by what it can be recognized. */
export interface ServedVersion {
  readonly version: number;
  /** `file` until NATS has delivered this version as well. */
  readonly source: 'nats' | 'file';
  readonly sha256?: string | undefined;
  readonly entryId?: string | undefined;
}

export type ChainStep<D, S> =
  | { readonly do: 'apply'; readonly delta: D }
  | { readonly do: 'load'; readonly snapshot: S }
  /** Wait a moment: the missing message, or one that costs less, may be on its way. */
  | { readonly do: 'wait'; readonly then: 'load' | 'ask' }
  /** Nothing that arrived leads to the newest version: request a snapshot. */
  | { readonly do: 'ask' }
  | { readonly do: 'rest' };

/** More than a control plane publishes between two snapshots. */
const MAX_DELTAS = 8192;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Which version of an environment is served, and the next step towards the newest one. Deltas and snapshots
 * arrive in any order, more than once, or never; versions only go up. Deltas beyond a bound are forgotten,
 * as if they had not arrived.
 *
 * Whatever arrives, in the end the newest version is served, or a snapshot is requested, or what would have
 * led there was refused.
 */
export class VersionChain<D extends ChainDelta, S extends ChainSnapshot> {
  #served: ServedVersion | undefined;
  /** The newest version that is known to exist. */
  #newest = 0;
  /** The newest version that a pointer named. */
  #pointed = 0;
  #snapshot: S | undefined;
  readonly #deltas = new Map<number, D>();
  #bytes = 0;

  get served(): ServedVersion | undefined {
    return this.#served;
  }

  /** The served version; 0 before the first. */
  get version(): number {
    return this.#served?.version ?? 0;
  }

  /** Whether a newer version than the served one is known to exist. */
  get isBehind(): boolean {
    return this.#newest > this.version;
  }

  /** The log has an entry of this version. */
  announce(version: number): void {
    this.#newest = Math.max(this.#newest, version);
  }

  /** @returns whether the delta is newer than what is served */
  offerDelta(delta: D): boolean {
    if (this.#isServedBy(delta)) this.#confirm();
    if (delta.version <= this.version) return false;
    this.announce(delta.version);
    this.#forget(delta.from);
    this.#deltas.set(delta.from, delta);
    this.#bytes += delta.bytes;
    if (this.#deltas.size > MAX_DELTAS || this.#bytes > MAX_BYTES) this.#forgetAll();
    return true;
  }

  /**
   * Takes the snapshot of a pointer.
   *
   * @returns why the pointer is refused: it is older than one before it, or names other content for the
   * served version; undefined if it is accepted
   */
  offerSnapshot(snapshot: S): string | undefined {
    const { version } = snapshot;
    const isServed = this.#isServedBy(snapshot);
    if (version < this.#pointed || (version === this.version && !isServed)) {
      return `version ${version} after ${this.version === 0 ? this.#pointed : this.version}`;
    }
    this.#pointed = version;
    if (isServed) this.#confirm();
    if (version > this.version) {
      this.announce(version);
      this.#snapshot = snapshot;
    }
    return undefined;
  }

  /** @param waited whether the previous step was a wait, and nothing arrived */
  next(waited: boolean): ChainStep<D, S> {
    const snapshot = this.#snapshot;
    const delta = this.#served === undefined ? undefined : this.#deltas.get(this.version);
    // Deltas cost less than a snapshot, but none leads past a version that only a snapshot makes.
    if (snapshot !== undefined && snapshot.entryId === undefined) return { do: 'load', snapshot };
    if (delta !== undefined) return { do: 'apply', delta };
    if (snapshot !== undefined) {
      const isLate = waited || this.#served === undefined;
      return isLate ? { do: 'load', snapshot } : { do: 'wait', then: 'load' };
    }
    if (!this.isBehind) return { do: 'rest' };
    return waited ? { do: 'ask' } : { do: 'wait', then: 'ask' };
  }

  /** The delta or the snapshot is served now. */
  serve(by: ChainDelta | ChainSnapshot): void {
    const sha256 = 'sha256' in by ? by.sha256 : undefined;
    this.#setServed({ version: by.version, source: 'nats', sha256, entryId: by.entryId });
  }

  /** What the last-good file holds is served now. */
  restore(restored: Omit<ServedVersion, 'source'>): void {
    // A snapshot of the file was named by a pointer once.
    if (restored.sha256 !== undefined) this.#pointed = restored.version;
    this.#setServed({ ...restored, source: 'file' });
  }

  /** The delta or the snapshot cannot be served. After a delta, a snapshot is needed. */
  refuse(by: ChainDelta | ChainSnapshot): void {
    if ('from' in by) this.#forget(by.from);
    else if (this.#snapshot === by) this.#snapshot = undefined;
  }

  #setServed(served: ServedVersion): void {
    const { version } = served;
    const applied = this.#deltas.get(this.version)?.version === version;
    if (applied) this.#forget(this.version);
    this.#served = served;
    this.announce(version);
    for (const delta of applied ? [] : this.#deltas.values()) {
      if (delta.version <= version) this.#forget(delta.from);
    }
    if (this.#snapshot !== undefined && this.#snapshot.version <= version) {
      this.#snapshot = undefined;
    }
  }

  /** Whether this made the served version, or repeats what made it. */
  #isServedBy(by: ChainDelta | ChainSnapshot): boolean {
    const { version, sha256, entryId } = this.#served ?? {};
    if (by.version !== version) return false;
    if ('sha256' in by && by.sha256 === sha256) return true;
    return by.entryId !== undefined && by.entryId === entryId;
  }

  #confirm(): void {
    if (this.#served !== undefined) this.#served = { ...this.#served, source: 'nats' };
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
