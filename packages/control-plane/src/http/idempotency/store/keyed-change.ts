import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { RunChange } from '../../../changes/store/change-origin.ts';
import type { Database } from '../../../store/database.ts';
import { claimKey, storeResponse, type KeyClaim, type StoredResponse } from './keys.ts';

/** Another call has used the key. */
export class KeyUsedError extends Error {}

/** A response, and its secret if it has one. */
export interface ResponseToStore {
  readonly response: StoredResponse;
  readonly secret: { readonly sealed: SealedSecret; readonly until: Date } | undefined;
}

/**
 * A change with an idempotency key. Its transaction claims the key, makes the change, and stays open until the response
 * is stored with it: so the change, the key and the response are committed together or not at all.
 */
export class KeyedChange {
  readonly #db: Database;
  readonly #claim: KeyClaim;
  readonly #waitMs: number;
  readonly #response = Promise.withResolvers<ResponseToStore>();
  #committed: Promise<void> | undefined;
  #isMade = false;

  /** @param waitMs how long to wait for another call that has claimed the key */
  constructor(db: Database, claim: KeyClaim, waitMs: number) {
    this.#db = db;
    this.#claim = claim;
    this.#waitMs = waitMs;
  }

  /**
   * Runs the change. The transaction is then open until `complete` or `abandon`. A change that failed may run again.
   *
   * @throws KeyUsedError
   */
  readonly run: RunChange = <T>(change: (transaction: Database) => Promise<T>): Promise<T> => {
    if (this.#isMade) throw new Error('a call with a key makes one change');
    return new Promise<T>((resolve, reject) => {
      this.#committed = this.#db.transaction().execute(async (transaction) => {
        const isFree = await claimKey(transaction, this.#claim, this.#waitMs);
        if (!isFree) throw new KeyUsedError();
        const result = await change(transaction);
        this.#isMade = true;
        resolve(result);
        const { response, secret } = await this.#response.promise;
        await storeResponse(transaction, this.#claim, response, secret);
      });
      this.#committed.catch(reject);
    });
  };

  /** Stores the response and commits. */
  async complete(response: ResponseToStore): Promise<void> {
    this.#response.resolve(response);
    await this.#committed;
  }

  /** Rolls the change back, if there is one. */
  async abandon(error: unknown): Promise<void> {
    this.#response.promise.catch(() => undefined);
    this.#response.reject(error);
    await this.#committed?.catch(() => undefined);
  }
}
