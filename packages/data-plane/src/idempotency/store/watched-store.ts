import type { Clock } from '@gateway/shared/clock';
import { LEASE_MS } from './claim-values.ts';
import type { BucketBound, EntryOwner } from '../../nats/bucket-bounds.ts';
import type { HeldEntry } from '../../nats/held-bytes.ts';
import {
  StoreUnavailableError,
  type IdempotencyStore,
  type StoredValue,
} from './idempotency-store.ts';

/**
 * Watches whether the store is available. During an outage no lease can be renewed, so a lease that ended meanwhile does
 * not mean that its owner is dead, until the owner has had time to renew it.
 */
export class WatchedStore implements IdempotencyStore {
  readonly #inner: IdempotencyStore;
  readonly #clock: Clock;
  #knownLosses: number;
  #failedAtMs = -Infinity;
  readonly #failed = (error: unknown): never => {
    if (error instanceof StoreUnavailableError) this.#failedAtMs = this.#clock.monotonicMs();
    throw error;
  };

  constructor(inner: IdempotencyStore, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
    this.#knownLosses = inner.losses;
  }

  get maxValueBytes(): number {
    return this.#inner.maxValueBytes;
  }

  get losses(): number {
    return this.#inner.losses;
  }

  get hasRoom(): boolean {
    return this.#inner.hasRoom;
  }

  boundOf(owner: EntryOwner): BucketBound | undefined {
    return this.#inner.boundOf(owner);
  }

  admit(owner: EntryOwner): BucketBound | undefined {
    return this.#inner.admit(owner);
  }

  stored(owner: EntryOwner, bytes: number, claim?: HeldEntry, wasFreed?: boolean): void {
    this.#inner.stored(owner, bytes, claim, wasFreed);
  }

  freed(claim: HeldEntry): void {
    this.#inner.freed(claim);
  }

  /** Whether no call has failed and the connection was not lost for the duration of a lease. */
  get stable(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.losses !== this.#knownLosses) {
      this.#knownLosses = this.losses;
      this.#failedAtMs = nowMs;
    }
    return nowMs - this.#failedAtMs >= LEASE_MS;
  }

  read(name: string): Promise<StoredValue> {
    return this.#watch(this.#inner.read(name));
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    return this.#watch(this.#inner.write(name, value, revision));
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return this.#watch(this.#inner.remove(name, revision));
  }

  #watch<T>(call: Promise<T>): Promise<T> {
    return call.catch(this.#failed);
  }
}
