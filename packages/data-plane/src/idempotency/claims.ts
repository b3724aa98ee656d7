import { pause } from '@gateway/shared/clock';
import { type RandomSource, piecesOf } from '@gateway/shared/ids';
import { Claim, type ClaimPorts } from './claim.ts';
import { claimValue, valueBefore, type ClaimedKey } from './store/claim-values.ts';
import type { EntryHead } from './store/entry.ts';
import type { KeyState, ReadKey } from './store/read-key.ts';
import { noRoom, StoreUnavailableError } from './store/idempotency-store.ts';

export interface ClaimsOptions extends ClaimPorts {
  readonly random: RandomSource;
  readonly readKey: ReadKey;
}

/** 132 random bits, as base64url. */
const CLAIM_ID_CHARS = 22;
/** A multiple of 3, so that the text has no padding and no character with fewer than 6 bits. */
const RANDOM_BLOCK_BYTES = 3 * 1024;
/** How often a claim that may have been written is searched for, to remove it. */
const WITHDRAW_READS = 30;
const WITHDRAW_RETRY_MS = 1000;
/** After this many reads without the claim, the write counts as lost. */
const WITHDRAW_ABSENT = 3;
/** The number of claims that are searched for at one time. */
const MAX_WITHDRAWING = 1000;

/** Creates claims, and counts those that this process holds. */
export class Claims {
  readonly #options: ClaimsOptions;
  #held = 0;
  #withdrawing = 0;
  #idle = Promise.withResolvers<undefined>();

  readonly #claimIds: (chars: number) => string;

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#claimIds = piecesOf(() => {
      const bytes = new Uint8Array(RANDOM_BLOCK_BYTES);
      options.random(bytes);
      return Buffer.from(bytes.buffer).toString('base64url');
    });
  }

  readonly #released = (): void => {
    this.#held -= 1;
    if (this.#held === 0) this.#idle.resolve(undefined);
  };

  /** The number of claims that this process holds. */
  get held(): number {
    return this.#held;
  }

  /**
   * Claims the key if its entry is still the one of this state.
   *
   * @param before the entry, unless it has no meaning any more
   * @returns undefined if another request has changed the entry
   * @throws StoreUnavailableError, also if the store is full. A claim that may have been written anyway is removed later.
   */
  async claim(
    request: Pick<ClaimedKey, 'name' | 'owner' | 'fingerprint' | 'requestId'>,
    { revision, entry }: Pick<KeyState, 'revision' | 'entry'>,
    before?: EntryHead,
  ): Promise<Claim | undefined> {
    const { store, readKey, clock, sharedNowMs } = this.#options;
    const { name, fingerprint, requestId, owner } = request;
    const bound = store.admit(owner);
    // An entry that exists has its room, but not a larger one. What is left of a freed key has none.
    if (bound !== undefined && (entry === undefined || bound === 'bucket')) {
      if ((await readKey(name)).revision !== revision) return undefined;
      throw noRoom(bound);
    }
    const startedMs = clock.monotonicMs();
    const key: ClaimedKey = {
      name,
      fingerprint,
      requestId,
      claimId: this.#claimIds(CLAIM_ID_CHARS),
      before,
      owner,
    };
    const value = claimValue(key, sharedNowMs());
    // Duplicates and repeated runs take no more room.
    const count = () => {
      if (before !== undefined) return;
      store.stored(owner, value.length, key, entry === undefined && revision > 0);
    };
    let claimed: number | undefined;
    try {
      claimed = await store.write(name, value, revision);
      if (claimed !== undefined) count();
    } catch (error) {
      count();
      claimed = await this.#readBack(key, error);
    }
    if (claimed === undefined) return undefined;
    const claim = this.#hold(key, claimed, startedMs);
    if (claim.held) return claim;
    // This process was blocked meanwhile. Other data planes may have reported the outcome as unknown, so the
    // request must not be sent now.
    claim.unsent();
    throw new StoreUnavailableError('the lease of the claim ended before the request was sent');
  }

  /** Resolves when no claim is held any more, at the latest after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#held === 0) return;
    const waited = new AbortController();
    const timeout = pause(this.#options.clock, timeoutMs, waited.signal);
    await Promise.race([this.#idle.promise, timeout]);
    waited.abort();
  }

  #hold(key: ClaimedKey, revision: number, startedMs: number): Claim {
    if (this.#held === 0) this.#idle = Promise.withResolvers<undefined>();
    const claim = new Claim(this.#options, key, revision, startedMs);
    this.#held += 1;
    void claim.over.then(this.#released);
    return claim;
  }

  /** Reads the claim after a write without an answer. Returns its revision if it was stored. */
  async #readBack(key: ClaimedKey, cause: unknown): Promise<number> {
    try {
      const { revision, entry } = await this.#options.readKey(key.name);
      if (entry?.head.claim_id === key.claimId) return revision;
    } catch (error) {
      this.#options.log.debug({ reason: String(error) }, 'idempotency claim not read back');
    }
    // The write may still arrive. Its request is refused now, so nothing is sent under the claim.
    void this.#withdraw(key);
    throw cause;
  }

  /** Removes a claim that may have been stored, so that the key is what it was when the caller tries again. */
  async #withdraw(key: ClaimedKey): Promise<void> {
    const { clock, metrics } = this.#options;
    if (this.#withdrawing >= MAX_WITHDRAWING) {
      metrics.claimAbandoned();
      return;
    }
    this.#withdrawing += 1;
    let absent = 0;
    for (let reads = 0; reads < WITHDRAW_READS && absent < WITHDRAW_ABSENT; reads += 1) {
      await pause(clock, WITHDRAW_RETRY_MS);
      const found = await this.#removeOwn(key);
      if (found === 'removed') absent = WITHDRAW_ABSENT;
      else if (found === 'absent') absent += 1;
    }
    this.#withdrawing -= 1;
    if (absent < WITHDRAW_ABSENT) metrics.claimAbandoned();
  }

  async #removeOwn(key: ClaimedKey): Promise<'removed' | 'absent' | 'unavailable'> {
    const { store, vault, readKey, log } = this.#options;
    try {
      const { revision, entry } = await readKey(key.name);
      if (entry?.head.claim_id !== key.claimId) return 'absent';
      const value = valueBefore(vault, key);
      const removed =
        value === undefined
          ? await store.remove(key.name, revision)
          : await store.write(key.name, value, revision);
      if (removed === undefined) return 'absent';
      if (value === undefined) store.freed(key);
      return 'removed';
    } catch (error) {
      log.debug({ reason: String(error) }, 'idempotency claim not removed; retrying');
      return 'unavailable';
    }
  }
}
