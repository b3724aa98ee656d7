import type { EntryOwner } from '../../src/nats/bucket-bounds.ts';
import type { HeldEntry } from '../../src/nats/held-bytes.ts';
import type {
  IdempotencyStore,
  StoredValue,
} from '../../src/idempotency/store/idempotency-store.ts';

/** The state of a name that was never written. */
const NOTHING_STORED: StoredValue = { revision: 0, value: undefined };

/** A store in memory, the reference for the contract of the store. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly maxValueBytes: number;
  readonly losses = 0;
  readonly hasRoom = true;
  readonly #values = new Map<string, StoredValue>();
  #revision = 0;

  constructor(maxValueBytes = 512 * 1024) {
    this.maxValueBytes = maxValueBytes;
  }

  /** The number of values that it has or had. */
  get size(): number {
    return this.#values.size;
  }

  boundOf() {
    return undefined;
  }

  admit() {
    return undefined;
  }

  stored(_owner: EntryOwner, _bytes: number, _claim?: HeldEntry, _wasFreed?: boolean): void {
    // It has no bounds.
  }

  freed(_claim: HeldEntry): void {
    // It has no bounds.
  }

  /** Loses all data, like a server that lost its disk. */
  loseAll(): void {
    this.#values.clear();
    this.#revision = 0;
  }

  read(name: string): Promise<StoredValue> {
    return Promise.resolve(this.#values.get(name) ?? NOTHING_STORED);
  }

  write(name: string, value: Uint8Array, revision: number): Promise<number | undefined> {
    return Promise.resolve(this.#change(name, new Uint8Array(value), revision));
  }

  remove(name: string, revision: number): Promise<number | undefined> {
    return Promise.resolve(this.#change(name, undefined, revision));
  }

  #change(name: string, value: Uint8Array | undefined, revision: number): number | undefined {
    if ((this.#values.get(name)?.revision ?? 0) !== revision) return undefined;
    this.#revision += 1;
    this.#values.set(name, { revision: this.#revision, value });
    return this.#revision;
  }
}
