import type { Logger } from '@gateway/shared/telemetry/logger';
import { openAnswer } from './answer.ts';
import { decodeEntry, UnreadableEntryError, type Entry } from './entry.ts';
import { StoreUnavailableError, type IdempotencyStore } from './idempotency-store.ts';
import type { AnswerVault, StoredAnswer } from './vault.ts';

/** What stands under a key. */
export interface SeenKey {
  readonly revision: number;
  readonly entry: Entry | undefined;
  /**
   * The answer of a `done` entry, opened once for all who share this look.
   *
   * @throws AnswerUnreadableError, StoreUnavailableError
   */
  answer(): Promise<StoredAnswer>;
}

/** @throws StoreUnavailableError, also where what stands there is none of this version's */
export type LookAtKey = (name: string) => Promise<SeenKey>;

export const NOTHING_SEEN: SeenKey = {
  revision: 0,
  entry: undefined,
  answer: () => Promise.reject(new Error('no answer is kept')),
};

export function createLook(store: IdempotencyStore, vault: AnswerVault, log: Logger): LookAtKey {
  return async (name) => {
    const { revision, value } = await store.read(name);
    const entry = value === undefined ? undefined : decode(value, log);
    let answer: Promise<StoredAnswer> | undefined;
    return {
      revision,
      entry,
      answer() {
        if (entry?.head.state !== 'done') return NOTHING_SEEN.answer();
        return (answer ??= openAnswer(store, vault, name, entry, entry.head));
      },
    };
  };
}

/** Nothing can be said of a key whose entry cannot be read, so its request must not run. */
function decode(value: Uint8Array, log: Logger): Entry {
  try {
    return decodeEntry(value);
  } catch (error) {
    if (!(error instanceof UnreadableEntryError)) throw error;
    log.error({ reason: error.message }, 'the entry of an idempotency key cannot be read');
    throw new StoreUnavailableError('the entry cannot be read', { cause: error });
  }
}
