import { decodeEntry } from './entry.ts';
import { StoreUnavailableError, type IdempotencyStore } from './idempotency-store.ts';

/** Earlier changes whose answers were lost may still be stored between the tries. */
const MAX_TRIES = 5;

/** Changes the entry of a key that a claim holds, unless another claim holds it meanwhile. */
export class OwnEntry {
  readonly #store: IdempotencyStore;
  readonly #name: string;
  readonly #claimId: string;
  /** undefined after a change that was not answered and may have been stored. */
  #revision: number | undefined;
  /** The losses of the store when the revision was read. After a loss another claim may have the same revision. */
  #losses: number;

  constructor(store: IdempotencyStore, name: string, claimId: string, revision: number) {
    this.#store = store;
    this.#name = name;
    this.#claimId = claimId;
    this.#revision = revision;
    this.#losses = store.losses;
  }

  /**
   * Writes if this claim holds the key, or if no claim does, as after the store has lost its data. If an earlier change
   * was not answered, the claim id of the stored entry shows whether this claim still holds the key.
   *
   * @returns false if another claim holds the key
   * @throws StoreUnavailableError, after which the change may still have been stored
   */
  write(value: Uint8Array): Promise<boolean> {
    return this.#change((revision) => this.#store.write(this.#name, value, revision));
  }

  /** Removes the entry, under the same conditions as `write`. */
  remove(): Promise<boolean> {
    return this.#change((revision) => this.#store.remove(this.#name, revision));
  }

  async #change(make: (revision: number) => Promise<number | undefined>): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (this.#losses !== this.#store.losses) this.#revision = undefined;
      this.#losses = this.#store.losses;
      const revision: number | undefined = this.#revision ?? (await this.#writableRevision());
      if (revision === undefined) return false;
      this.#revision = undefined;
      this.#revision = await make(revision);
      if (this.#revision !== undefined) return true;
    }
    throw new StoreUnavailableError('the entry was changed too often meanwhile');
  }

  /** The revision of the entry; undefined if another claim holds the key. */
  async #writableRevision(): Promise<number | undefined> {
    const { revision, value } = await this.#store.read(this.#name);
    const free = value === undefined || decodeEntry(value).head.claim_id === this.#claimId;
    return free ? revision : undefined;
  }
}
