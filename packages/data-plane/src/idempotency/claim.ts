import { pause, type Clock, type Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { sealAnswer, writeParts, type AnswerPart } from './answer.ts';
import { KEPT_MS } from './decide-key.ts';
import { encodeEntry, encodeHead } from './entry.ts';
import type { ClaimEnd, IdempotencyMetrics } from './metrics.ts';
import { OwnEntry } from './own-entry.ts';
import { StoreFullError, type IdempotencyStore } from './idempotency-store.ts';
import type { AnswerVault, StoredAnswer } from './vault.ts';

export interface ClaimPorts {
  readonly store: IdempotencyStore;
  readonly vault: AnswerVault;
  readonly clock: Clock;
  /** Milliseconds since the Unix epoch by the clock that all data planes go by. */
  readonly sharedNowMs: () => number;
  readonly log: Logger;
  readonly metrics: IdempotencyMetrics;
}

export interface ClaimedKey {
  readonly name: string;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly claimId: string;
}

/** A dead data plane's claim ends this long after its last renewal (and the clocks' skew). */
export const LEASE_MS = 8000;
const RENEW_MS = 2500;
/** After a renewal that failed: soon, as a store that comes back may have lost the claim. */
const RENEW_AGAIN_MS = 250;
/** How long the end of a request is offered to a store that does not take it. */
const SETTLE_MS = 30_000;
const SETTLE_RETRY_MS = 250;

/** The value of a claim that is made, or renewed, now. */
export function claimValue(key: ClaimedKey, nowMs: number): Uint8Array {
  return encodeEntry(
    encodeHead({ ...known(key, nowMs), state: 'claimed', lease_until_ms: nowMs + LEASE_MS }),
  );
}

/**
 * A key that this process holds while its request is under way. The lease is renewed until the end
 * is told, by one of `completed`, `unsent` and `outcomeUnknown`; the first of them counts.
 *
 * A claim counts as sent from its beginning, so that nothing needs to be written between claiming and
 * sending. Should this process die, its lease ends and the outcome is unknown.
 */
export class Claim {
  readonly #ports: ClaimPorts;
  readonly #key: ClaimedKey;
  readonly #entry: OwnEntry;
  readonly #over = Promise.withResolvers<undefined>();
  /** By the monotonic clock: as long as the lease that was written last. */
  #heldUntilMs: number;
  #renewal: Timer | undefined = undefined;
  #working: Promise<unknown> = Promise.resolve();
  #renewalFails = false;
  #told = false;

  /** @param askedAtMs when its first lease was written, by the monotonic clock */
  constructor(ports: ClaimPorts, key: ClaimedKey, revision: number, askedAtMs: number) {
    this.#ports = ports;
    this.#key = key;
    this.#entry = new OwnEntry(ports.store, key.name, key.claimId, revision);
    this.#heldUntilMs = askedAtMs + LEASE_MS;
    this.#renewLater(RENEW_MS);
  }

  /** Resolves when the end is in the store, or given up. */
  get over(): Promise<undefined> {
    return this.#over.promise;
  }

  /**
   * Whether nobody can have taken its request for dead. Once they may have, nothing more must be sent: a
   * caller who was told that its end is not known may have gone on with another key.
   */
  get held(): boolean {
    return this.#ports.clock.monotonicMs() < this.#heldUntilMs;
  }

  /** The upstream's answer came whole, whatever its status. */
  completed(answer: StoredAnswer): void {
    const { store, vault } = this.#ports;
    const { name } = this.#key;
    let kept = answer;
    let sealed: { readonly value: Uint8Array; readonly pending: AnswerPart[] } | undefined;
    this.#tell(
      () => (kept.body === undefined ? 'stored_without_body' : 'stored'),
      async () => {
        if (sealed === undefined) {
          // Once, as what a try before may have written must stay true.
          const { maxValueBytes } = store;
          const { value, parts } = sealAnswer(vault, maxValueBytes, name, this.#known(), kept);
          sealed = { value, pending: [...parts] };
        }
        const { value, pending } = sealed;
        try {
          await writeParts(store, pending);
          return await this.#entry.write(value);
        } catch (error) {
          if (!(error instanceof StoreFullError) || kept.body === undefined) throw error;
          // That it was answered, and how, is worth more than nothing.
          kept = { ...answer, fields: [], body: undefined };
          sealed = undefined;
          throw error;
        }
      },
    );
  }

  /** Nothing reached an upstream: the key is free again. */
  unsent(): void {
    this.#tell(
      () => 'freed',
      () => this.#entry.remove(),
    );
  }

  /** Something was sent, and what came of it will not be known. */
  outcomeUnknown(): void {
    this.#tell(
      () => 'unknown',
      () => this.#entry.write(encodeEntry(encodeHead({ ...this.#known(), state: 'unknown' }))),
    );
  }

  #known() {
    return known(this.#key, this.#ports.sharedNowMs());
  }

  #renewLater(delayMs: number): void {
    this.#renewal = this.#ports.clock.setTimer(delayMs, () => {
      this.#working = this.#renew().then((nextMs) => {
        if (nextMs !== undefined && !this.#told) this.#renewLater(nextMs);
      });
    });
  }

  /** Never rejects. Gives the time until the next one, or undefined where the key is somebody else's. */
  async #renew(): Promise<number | undefined> {
    const { clock, log, sharedNowMs } = this.#ports;
    const askedAtMs = clock.monotonicMs();
    try {
      const held = await this.#entry.write(claimValue(this.#key, sharedNowMs()));
      this.#renewalFails = false;
      if (!held) return undefined;
      // One that was over for a moment may have been taken for that of a dead one.
      if (this.held) this.#heldUntilMs = askedAtMs + LEASE_MS;
      return RENEW_MS;
    } catch (error) {
      const failed = { ...this.#logged(), reason: String(error) };
      if (!this.#renewalFails) log.warn(failed, 'a key could not be renewed yet');
      this.#renewalFails = true;
      return RENEW_AGAIN_MS;
    }
  }

  #tell(end: () => ClaimEnd, change: () => Promise<boolean>): void {
    if (this.#told) return;
    this.#told = true;
    this.#renewal?.cancel();
    const before = this.#working;
    this.#working = before
      .then(() => this.#settle(end, change))
      .then((settled) => {
        this.#ports.metrics.ended(settled);
        this.#over.resolve(undefined);
      });
  }

  /** Offers the change until the store has it, or somebody else the key, or time is up. Never rejects. */
  async #settle(end: () => ClaimEnd, change: () => Promise<boolean>): Promise<ClaimEnd> {
    const { clock, log } = this.#ports;
    const endMs = clock.monotonicMs() + SETTLE_MS;
    for (;;) {
      try {
        if (await change()) return end();
        log.warn(this.#logged(), 'a key was taken over before its request had ended');
        return 'lost';
      } catch (error) {
        if (clock.monotonicMs() >= endMs) {
          log.error({ ...this.#logged(), reason: String(error) }, 'the end of a request is lost');
          return 'uncommitted';
        }
        await pause(clock, SETTLE_RETRY_MS);
      }
    }
  }

  #logged() {
    return { request_id: this.#key.requestId };
  }
}

function known(key: ClaimedKey, nowMs: number) {
  return {
    fingerprint: key.fingerprint,
    request_id: key.requestId,
    claim_id: key.claimId,
    expires_at_ms: nowMs + KEPT_MS,
  };
}
