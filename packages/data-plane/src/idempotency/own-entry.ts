import { decodeEntry } from './entry.ts';
import { StoreUnavailableError, type IdempotencyStore } from './idempotency-store.ts';

/** Own changes whose replies were lost may still come in between. */
const MAX_TRIES = 5;

/** Changes what stands under a key that a claim holds, as long as it is no other claim's. */
export class OwnEntry {
  readonly #store: IdempotencyStore;
  readonly #name: string;
  readonly #claimId: string;
  /** undefined: a change may have happened of which no answer came. */
  #revision: number | undefined;
  /** Of the store, when the revision was told: one that lost its data may give it to another claim. */
  #losses: number;

  constructor(store: IdempotencyStore, name: string, claimId: string, revision: number) {
    this.#store = store;
    this.#name = name;
    this.#claimId = claimId;
    this.#revision = revision;
    this.#losses = store.losses;
  }

  /**
   * Writes if the key is still this claim's, or nobody's, as after the store lost its data: who runs holds
   * the key as long as nobody else does. Where an earlier change may have happened of which no answer came,
   * or comes to happen meanwhile, what stands there tells by its claim id.
   *
   * @returns false where it is somebody else's
   * @throws StoreUnavailableError; the change may have happened all the same
   */
  write(value: Uint8Array): Promise<boolean> {
    return this.#change((revision) => this.#store.write(this.#name, value, revision));
  }

  /** Frees the key, as `write` changes it. */
  remove(): Promise<boolean> {
    return this.#change((revision) => this.#store.remove(this.#name, revision));
  }

  async #change(make: (revision: number) => Promise<number | undefined>): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (this.#losses !== this.#store.losses) this.#revision = undefined;
      this.#losses = this.#store.losses;
      const revision: number | undefined = this.#revision ?? (await this.#freeRevision());
      if (revision === undefined) return false;
      this.#revision = undefined;
      this.#revision = await make(revision);
      if (this.#revision !== undefined) return true;
    }
    throw new StoreUnavailableError('the key was changed again and again');
  }

  /** Of what stands under the key; undefined where that is another claim's. */
  async #freeRevision(): Promise<number | undefined> {
    const { revision, value } = await this.#store.read(this.#name);
    const free = value === undefined || decodeEntry(value).head.claim_id === this.#claimId;
    return free ? revision : undefined;
  }
}
