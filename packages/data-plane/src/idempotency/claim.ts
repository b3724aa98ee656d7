import { pause, type Clock, type Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  claimValue,
  commonFields,
  LEASE_MS,
  unknownValue,
  valueBefore,
  withoutContent,
  type ClaimedKey,
} from './store/claim-values.ts';
import {
  sealResponse,
  writeParts,
  type ResponsePart,
  type SealedResponse,
} from './store/sealed-response.ts';
import type { ClaimEnd, IdempotencyMetrics } from './idempotency-metrics.ts';
import { OwnEntry } from './store/own-entry.ts';
import { StoreFullError, type IdempotencyStore } from './store/idempotency-store.ts';
import type { ResponseVault, StoredResponse } from './store/response-vault.ts';

/** What a claim needs. */
export interface ClaimPorts {
  readonly store: IdempotencyStore;
  readonly vault: ResponseVault;
  readonly clock: Clock;
  /** Milliseconds since the Unix epoch by the clock of the NATS server, which all data planes use. */
  readonly sharedNowMs: () => number;
  readonly log: Logger;
  readonly metrics: IdempotencyMetrics;
}

const RENEW_MS = 2500;
/** The delay after a failed renewal. It is short, because a store that returns may have lost the claim. */
const RENEW_RETRY_MS = 250;
/** How long the outcome of a request is retried if the store does not accept it. */
const SETTLE_MS = 30_000;
const SETTLE_RETRY_MS = 250;

/** The key that a running request holds. */
export interface HeldKey {
  /** Resolves when the outcome is stored or given up. */
  readonly over: Promise<undefined>;
  readonly held: boolean;
  completed(response: StoredResponse, isRepeatable?: boolean): void;
  unsent(): void;
  outcomeUnknown(): void;
}

/**
 * A key that this process holds while its request runs. The lease is renewed until `completed`, `unsent` or
 * `outcomeUnknown` is called; the first of these calls counts.
 *
 * A claim counts as sent from its start, so that nothing needs to be written between the claim and the request. If this
 * process dies, the lease ends and the outcome is unknown.
 */
export class Claim implements HeldKey {
  readonly #ports: ClaimPorts;
  readonly #key: ClaimedKey;
  readonly #entry: OwnEntry;
  readonly #over = Promise.withResolvers<undefined>();
  /** The end of the lease that was written last, by the monotonic clock. */
  #heldUntilMs: number;
  #renewal: Timer | undefined = undefined;
  /** The renewal that runs. */
  #renewing: Promise<void> | undefined = undefined;
  #renewalFails = false;
  #ended = false;

  /** @param startedMs when the first lease was written, by the monotonic clock */
  constructor(ports: ClaimPorts, key: ClaimedKey, revision: number, startedMs: number) {
    this.#ports = ports;
    this.#key = key;
    this.#entry = new OwnEntry(ports.store, key.name, key.claimId, revision);
    this.#heldUntilMs = startedMs + LEASE_MS;
    this.#renewLater(RENEW_MS);
  }

  /** Resolves when the outcome is stored or given up. */
  get over(): Promise<undefined> {
    return this.#over.promise;
  }

  /**
   * Whether the lease has certainly not ended. After its end nothing more may be sent: other data planes may have
   * reported the outcome as unknown, and the caller may have continued with another key.
   */
  get held(): boolean {
    return this.#ports.clock.monotonicMs() < this.#heldUntilMs;
  }

  /**
   * The response of the upstream has arrived completely, with any status.
   *
   * @param isRepeatable whether the run certainly had no effect, so that the same request may run again
   */
  completed(response: StoredResponse, isRepeatable = false): void {
    const { store } = this.#ports;
    const { before } = this.#key;
    // An earlier run may have had an effect.
    if (isRepeatable && before !== undefined && before.state !== 'done') {
      this.#putBack('unknown');
      return;
    }
    const stored = isRepeatable ? 'repeatable' : 'stored';
    let kept = response;
    let sealed: { readonly value: Uint8Array; readonly pending: ResponsePart[] } | undefined;
    this.#finish(
      () => (kept.body === undefined && !isRepeatable ? 'stored_without_body' : stored),
      async () => {
        if (sealed === undefined) {
          // Only once, because an earlier try may have been stored.
          let seal = this.#seal(kept, isRepeatable);
          if (isRepeatable && seal.parts.length > 0) {
            // The next run would not overwrite the parts, so a key that is repeated often would fill the bucket.
            kept = withoutContent(response);
            seal = this.#seal(kept, isRepeatable);
          }
          const { value, parts } = seal;
          sealed = { value, pending: [...parts] };
          // It replaces one like it. If each run counted, a key that is repeated often would use up its route's bound.
          if (!isRepeatable || before === undefined) {
            const bytes = value.length + parts.reduce((sum, part) => sum + part.bytes.length, 0);
            store.stored(this.#key.owner, bytes);
          }
        }
        const { value, pending } = sealed;
        try {
          if (pending.length > 0) await writeParts(store, pending);
          return await this.#entry.write(value);
        } catch (error) {
          if (!(error instanceof StoreFullError) || kept.body === undefined) throw error;
          // The status alone is more useful than nothing.
          kept = withoutContent(response);
          sealed = undefined;
          throw error;
        }
      },
    );
  }

  /** The run had no effect and has no response: the key becomes what it was before. */
  unsent(): void {
    const { before } = this.#key;
    if (before === undefined) this.#putBack('freed');
    else this.#putBack(before.state === 'done' ? 'repeatable' : 'unknown');
  }

  /** Something was sent, and the outcome will never be known. */
  outcomeUnknown(): void {
    this.#finish(
      () => 'unknown',
      () => this.#entry.write(unknownValue(this.#commonFields())),
    );
  }

  #putBack(end: ClaimEnd): void {
    this.#finish(
      () => end,
      async () => {
        const value = valueBefore(this.#ports.vault, this.#key);
        if (value !== undefined) return this.#entry.write(value);
        const removed = await this.#entry.remove();
        if (removed) this.#ports.store.freed(this.#key);
        return removed;
      },
    );
  }

  #seal(response: StoredResponse, isRepeatable: boolean): SealedResponse {
    const { store, vault } = this.#ports;
    const { maxValueBytes } = store;
    const { name } = this.#key;
    const common = this.#commonFields();
    return sealResponse(vault, maxValueBytes, name, common, response, isRepeatable);
  }

  #commonFields() {
    return commonFields(this.#key, this.#ports.sharedNowMs());
  }

  #renewLater(delayMs: number): void {
    this.#renewal = this.#ports.clock.setTimer(delayMs, () => {
      this.#renewing = this.#renew().then((nextMs) => {
        this.#renewing = undefined;
        if (nextMs !== undefined && !this.#ended) this.#renewLater(nextMs);
      });
    });
  }

  /** Returns the time until the next renewal, or undefined if another claim holds the key. Never rejects. */
  async #renew(): Promise<number | undefined> {
    const { clock, log, sharedNowMs } = this.#ports;
    const startedMs = clock.monotonicMs();
    try {
      const held = await this.#entry.write(claimValue(this.#key, sharedNowMs()));
      this.#renewalFails = false;
      if (!held) return undefined;
      // A lease that had ended for a moment may already have been seen as ended.
      if (this.held) this.#heldUntilMs = startedMs + LEASE_MS;
      return RENEW_MS;
    } catch (error) {
      const fields = { ...this.#logFields(), reason: String(error) };
      if (!this.#renewalFails) log.warn(fields, 'idempotency lease renewal failed; retrying');
      this.#renewalFails = true;
      return RENEW_RETRY_MS;
    }
  }

  #finish(end: () => ClaimEnd, change: () => Promise<boolean>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#renewal?.cancel();
    void this.#storeEnd(end, change);
  }

  /** Never rejects. */
  async #storeEnd(end: () => ClaimEnd, change: () => Promise<boolean>): Promise<void> {
    // Two writes of one entry at a time would compete. Without a renewal this waits until the end of the response has
    // been passed on, before the response is encrypted.
    await this.#renewing;
    this.#ports.metrics.ended(await this.#store(end, change));
    this.#over.resolve(undefined);
  }

  /** Retries the change until it is stored, another claim holds the key, or `SETTLE_MS` have passed. Never rejects. */
  async #store(end: () => ClaimEnd, change: () => Promise<boolean>): Promise<ClaimEnd> {
    const { clock, log } = this.#ports;
    const endMs = clock.monotonicMs() + SETTLE_MS;
    for (;;) {
      try {
        if (await change()) return end();
        log.warn(
          this.#logFields(),
          'idempotency outcome not stored: another request holds the key',
        );
        return 'lost';
      } catch (error) {
        if (clock.monotonicMs() >= endMs) {
          const fields = { ...this.#logFields(), reason: String(error) };
          log.error(fields, 'idempotency outcome not stored');
          return 'uncommitted';
        }
        await pause(clock, SETTLE_RETRY_MS);
      }
    }
  }

  #logFields() {
    return { request_id: this.#key.requestId };
  }
}
