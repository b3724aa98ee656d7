import type { BucketBound, EntryOwner } from '../../src/nats/bucket-bounds.ts';
import type { HeldEntry } from '../../src/nats/held-bytes.ts';
import {
  StoreFullError,
  StoreUnavailableError,
  type IdempotencyStore,
  type StoredValue,
} from '../../src/idempotency/store/idempotency-store.ts';

/** How a call fails: before anything was done, or after it, if only the reply is lost. */
export type Fault = 'refused' | 'reply_lost' | 'full';

/** A store whose calls fail when the test says so. */
export class FaultyIdempotencyStore implements IdempotencyStore {
  losses = 0;
  /** The bound that new names reach; undefined: there is room. */
  bound: BucketBound | undefined = undefined;
  readonly #inner: IdempotencyStore;
  /** Called before each call. */
  fault: (call: 'read' | 'write' | 'remove', bytes: number) => Fault | undefined = () => undefined;

  constructor(inner: IdempotencyStore) {
    this.#inner = inner;
  }

  get maxValueBytes(): number {
    return this.#inner.maxValueBytes;
  }

  get hasRoom(): boolean {
    return this.bound === undefined;
  }

  boundOf(): BucketBound | undefined {
    return this.bound;
  }

  admit(): BucketBound | undefined {
    return this.bound;
  }

  stored(owner: EntryOwner, bytes: number, claim?: HeldEntry, wasFreed?: boolean): void {
    this.#inner.stored(owner, bytes, claim, wasFreed);
  }

  freed(claim: HeldEntry): void {
    this.#inner.freed(claim);
  }

  read(name: string): Promise<StoredValue> {
    return this.#call('read', () => this.#inner.read(name));
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    const write = () => this.#inner.write(name, value, revision);
    return this.#call('write', write, value.length);
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return this.#call('remove', () => this.#inner.remove(name, revision));
  }

  async #call<T>(call: 'read' | 'write' | 'remove', run: () => Promise<T>, bytes = 0): Promise<T> {
    const fault = this.fault(call, bytes);
    if (fault === 'full') throw new StoreFullError('full by the test');
    if (fault === 'refused') throw new StoreUnavailableError('refused by the test');
    const result = await run();
    if (fault === 'reply_lost') throw new StoreUnavailableError('the reply was lost by the test');
    return result;
  }
}
