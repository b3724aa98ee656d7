/** What the store has under a name: nothing, or bytes, and the revision to name in the next change. */
export interface StoredValue {
  /** 0 where nothing was ever written, or all of it is forgotten. */
  readonly revision: number;
  /** undefined: nothing, or it was removed. */
  readonly value: Uint8Array | undefined;
}

export const NOTHING_STORED: StoredValue = { revision: 0, value: undefined };

/**
 * Where idempotency keys are kept, for all data planes together. Every change is by compare-and-set,
 * so that of several at once just one succeeds. Values are forgotten some time after they were
 * written (25 hours in NATS), whatever stands in them.
 */
export interface IdempotencyStore {
  /** The largest value that is taken, bytes. */
  readonly maxValueBytes: number;
  /** How often the way to the store was lost, so that it was away for an unknown time. */
  readonly losses: number;
  /**
   * Whether new names may be written. False some way before the store is full, as what is there grows:
   * an answer takes more than the claim of its key.
   */
  readonly hasRoom: boolean;
  /** @throws StoreUnavailableError */
  read(name: string): Promise<StoredValue>;
  /**
   * Writes if the revision is still this one.
   *
   * @returns the new revision, or undefined where the revision was another
   * @throws StoreUnavailableError, after which the value may have been written, or may yet be
   */
  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  /**
   * Removes what stands there if the revision is still this one.
   *
   * @returns the new revision, or undefined where the revision was another
   * @throws StoreUnavailableError as for `write`
   */
  remove(name: string, revision: number): Promise<number | undefined>;
}

/** The store cannot be asked now; what became of a change that was under way is not known. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
}

/** The change was refused, as the store is full. */
export class StoreFullError extends StoreUnavailableError {
  override readonly name = 'StoreFullError';
}
