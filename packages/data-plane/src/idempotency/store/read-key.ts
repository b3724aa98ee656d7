import type { Logger } from '@gateway/shared/telemetry/logger';
import { openResponse } from './sealed-response.ts';
import { decodeEntry, UnreadableEntryError, type KeyEntry } from './entry.ts';
import { StoreUnavailableError, type IdempotencyStore } from './idempotency-store.ts';
import type { ResponseVault, StoredResponse } from './response-vault.ts';

/** The state of a key in the store. */
export interface KeyState {
  readonly revision: number;
  readonly entry: KeyEntry | undefined;
  /**
   * The response of a `done` entry. It is decrypted once for all requests that share this read.
   *
   * @throws ResponseUnreadableError, StoreUnavailableError
   */
  response(): Promise<StoredResponse>;
}

/**
 * Reads the state of a key.
 *
 * @throws StoreUnavailableError, also if this version cannot parse the entry
 */
export type ReadKey = (name: string) => Promise<KeyState>;

/** The state of a key that was never used. */
export const NO_ENTRY: KeyState = {
  revision: 0,
  entry: undefined,
  response: () => Promise.reject(new Error('there is no stored response')),
};

/** Creates the function that reads keys from this store. */
export function createReadKey(store: IdempotencyStore, vault: ResponseVault, log: Logger): ReadKey {
  return async (name) => {
    const { revision, value } = await store.read(name);
    const entry = value === undefined ? undefined : decode(value, log);
    let response: Promise<StoredResponse> | undefined;
    return {
      revision,
      entry,
      response() {
        if (entry?.head.state !== 'done') return NO_ENTRY.response();
        return (response ??= openResponse(store, vault, name, entry, entry.head));
      },
    };
  };
}

/** The state of a key whose entry cannot be parsed is unknown, so its request must not run. */
function decode(value: Uint8Array, log: Logger): KeyEntry {
  try {
    return decodeEntry(value);
  } catch (error) {
    if (!(error instanceof UnreadableEntryError)) throw error;
    log.error({ reason: error.message }, 'idempotency entry unreadable');
    throw new StoreUnavailableError('the stored entry is unreadable', { cause: error });
  }
}
