import { pause } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import { Claim, claimValue, type ClaimedKey, type ClaimPorts } from './claim.ts';
import type { LookAtKey } from './look.ts';
import { StoreFullError, StoreUnavailableError } from './idempotency-store.ts';

export interface ClaimsOptions extends ClaimPorts {
  readonly random: RandomSource;
  readonly look: LookAtKey;
}

/** How often a claim that may have been written is looked for, to take it back. */
const DISOWN_LOOKS = 30;
const DISOWN_RETRY_MS = 1000;
/** Looks that found nothing of it, after which it is taken to have been lost on the way. */
const DISOWN_ABSENT = 3;
/** Claims that are looked for at one time. */
const MAX_DISOWNING = 1000;

/** Makes claims, and knows those that this process holds. */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #held = new Set<Claim>();
  #disowning = 0;
  #idle = Promise.withResolvers<undefined>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held.size;
  }

  /**
   * Claims the key if what stands there still has this revision.
   *
   * @returns undefined where somebody else was faster
   * @throws StoreUnavailableError, where it has no room as well; a claim that may have been written all
   * the same is taken back later
   */
  async claim(request: Omit<ClaimedKey, 'claimId'>, revision: number): Promise<Claim | undefined> {
    const { store, look, clock, sharedNowMs } = this.#options;
    const { name, fingerprint, requestId } = request;
    if (!store.hasRoom) {
      if ((await look(name)).revision !== revision) return undefined;
      throw new StoreFullError('the store has no room for new keys');
    }
    const askedAtMs = clock.monotonicMs();
    const key: ClaimedKey = { name, fingerprint, requestId, claimId: this.#claimId() };
    let claimed: number | undefined;
    try {
      claimed = await store.write(name, claimValue(key, sharedNowMs()), revision);
    } catch (error) {
      claimed = await this.#readBack(key, error);
    }
    if (claimed === undefined) return undefined;
    const claim = this.#hold(key, claimed, askedAtMs);
    if (claim.held) return claim;
    // This process stood still meanwhile. Others may have told that the request was sent and its end is not
    // known, so it must not be sent after that.
    claim.unsent();
    throw new StoreUnavailableError('the lease of the claim was over before its request began');
  }

  /** Resolves when no claim is held any more, or after the time. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#held.size === 0) return;
    const waited = new AbortController();
    const timeout = pause(this.#options.clock, timeoutMs, waited.signal);
    await Promise.race([this.#idle.promise, timeout]);
    waited.abort();
  }

  #hold(key: ClaimedKey, revision: number, askedAtMs: number): Claim {
    if (this.#held.size === 0) this.#idle = Promise.withResolvers<undefined>();
    const claim = new Claim(this.#options, key, revision, askedAtMs);
    this.#held.add(claim);
    void claim.over.then(() => {
      this.#held.delete(claim);
      if (this.#held.size === 0) this.#idle.resolve(undefined);
    });
    return claim;
  }

  /** After a write of which no answer came: the revision of the claim, where it is there. */
  async #readBack(key: ClaimedKey, cause: unknown): Promise<number> {
    try {
      const { revision, entry } = await this.#options.look(key.name);
      if (entry?.head.claim_id === key.claimId) return revision;
    } catch (error) {
      this.#options.log.debug({ reason: String(error) }, 'a claim could not be read back');
    }
    // It may yet arrive. As its request is refused now, nothing was sent under it.
    void this.#disown(key);
    throw cause;
  }

  /** Takes back a claim that may stand in the store, so that the caller's next try finds it free. */
  async #disown(key: ClaimedKey): Promise<void> {
    const { clock, metrics } = this.#options;
    if (this.#disowning >= MAX_DISOWNING) {
      metrics.claimAbandoned();
      return;
    }
    this.#disowning += 1;
    let absent = 0;
    for (let looks = 0; looks < DISOWN_LOOKS && absent < DISOWN_ABSENT; looks += 1) {
      await pause(clock, DISOWN_RETRY_MS);
      const found = await this.#removeOwn(key);
      if (found === 'removed') absent = DISOWN_ABSENT;
      else if (found === 'absent') absent += 1;
    }
    this.#disowning -= 1;
    if (absent < DISOWN_ABSENT) metrics.claimAbandoned();
  }

  async #removeOwn(key: ClaimedKey): Promise<'removed' | 'absent' | 'unavailable'> {
    const { store, look, log } = this.#options;
    try {
      const { revision, entry } = await look(key.name);
      if (entry?.head.claim_id !== key.claimId) return 'absent';
      return (await store.remove(key.name, revision)) === undefined ? 'absent' : 'removed';
    } catch (error) {
      log.debug({ reason: String(error) }, 'a claim could not be taken back yet');
      return 'unavailable';
    }
  }

  #claimId(): string {
    const bytes = new Uint8Array(16);
    this.#options.random(bytes);
    return Buffer.from(bytes).toString('base64url');
  }
}
