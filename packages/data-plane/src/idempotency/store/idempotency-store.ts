import { describeBound, type BucketBound, type EntryOwner } from '../../nats/bucket-bounds.ts';
import type { HeldEntry } from '../../nats/held-bytes.ts';

/** The value under a name, and its revision, which the next change must state. */
export interface StoredValue {
  /** 0 if nothing was written, or if the store has removed it. */
  readonly revision: number;
  /** undefined if there is none, or it was removed. */
  readonly value: Uint8Array | undefined;
}

/**
 * Stores idempotency keys for all data planes. Every change is by compare-and-set, so that one of several simultaneous
 * changes succeeds. Values are removed some time after they were written (25 hours in NATS), whatever they contain.
 */
export interface IdempotencyStore {
  /** The size of the largest value, bytes. */
  readonly maxValueBytes: number;
  /** How often the connection was lost. The store was then unreachable for an unknown time. */
  readonly losses: number;
  /**
   * Whether new names may be written. False before the store is full, because a response takes more room than the claim
   * of its key.
   */
  readonly hasRoom: boolean;
  /** The bound at which a new name would be refused now; undefined: it would be written. */
  boundOf(owner: EntryOwner): BucketBound | undefined;
  /** The same for a name that is about to be written. It is counted. */
  admit(owner: EntryOwner): BucketBound | undefined;
  /**
   * Counts what was written for an owner.
   *
   * @param claim the claim that was written, unless it was a response
   * @param wasFreed whether the name had been removed, and keeps the room of what is left of it
   */
  stored(owner: EntryOwner, bytes: number, claim?: HeldEntry, wasFreed?: boolean): void;
  /** The claim was removed. What is left of its name counts until the next claim takes its place. */
  freed(claim: HeldEntry): void;
  /**
   * Reads a value.
   *
   * @throws StoreUnavailableError
   */
  read(name: string): Promise<StoredValue>;
  /**
   * Writes a value if the revision is still this one.
   *
   * @returns the new revision, or undefined if the revision was another
   * @throws StoreUnavailableError, after which the value may have been written or may still be written
   */
  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  /**
   * Removes the value if the revision is still this one.
   *
   * @returns the new revision, or undefined if the revision was another
   * @throws StoreUnavailableError as for `write`
   */
  remove(name: string, revision: number): Promise<number | undefined>;
}

/** The store cannot be used now. The result of a change is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
}

/** The change was refused because the store is full. */
export class StoreFullError extends StoreUnavailableError {
  override readonly name = 'StoreFullError';
}

/** The error for a new key at a bound. */
export function noRoom(bound: BucketBound): StoreFullError {
  return new StoreFullError(`no new key is stored, because ${describeBound(bound)}`);
}
