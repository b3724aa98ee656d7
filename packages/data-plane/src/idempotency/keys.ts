import { pause } from '@gateway/shared/clock';
import type { EntryOwner } from '../nats/bucket-bounds.ts';
import type { Claim, HeldKey } from './claim.ts';
import { Claims, type ClaimsOptions } from './claims.ts';
import { decideKey, type ClaimedAfter, type KeyDecision } from './decide-key.ts';
import type { EntryHead } from './store/entry.ts';
import { createReadKey, NO_ENTRY, type ReadKey, type KeyState } from './store/read-key.ts';
import { DuplicateWaits } from './duplicate-waits.ts';
import { WatchedStore } from './store/watched-store.ts';
import { noRoom, StoreUnavailableError } from './store/idempotency-store.ts';
import type { StoredResponse } from './store/response-vault.ts';

/** A request with a key. */
export interface KeyedRequest {
  /** The name of its key in the store. It does not contain the key. */
  readonly name: string;
  /** On whose behalf it is stored. */
  readonly owner: EntryOwner;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly onUnknown: 'refuse' | 'forward';
  /** Until when it waits for another request with its key, by the monotonic clock. */
  readonly deadlineMs: number;
  readonly hasLeft: () => boolean;
  /** Sets what is called when the caller leaves, at once if it has; undefined clears it. */
  readonly whenLeft: (listener: (() => void) | undefined) => void;
}

/** What happens to a request with a key. `firstId` is the id of the request that claimed the key. */
export type KeyOutcome<Held extends HeldKey = Claim> =
  | { readonly kind: 'run'; readonly claim: Held; readonly after: ClaimedAfter }
  | { readonly kind: 'replay'; readonly response: StoredResponse; readonly firstId: string }
  | {
      readonly kind: 'refuse';
      readonly why: 'conflict' | 'outcome_unknown' | 'response_unreadable';
      readonly firstId: string;
    }
  | { readonly kind: 'in_progress'; readonly firstId: string | undefined }
  | { readonly kind: 'left' };

/** What would happen to a request with a key. `wait`: another request has claimed the key and has not ended. */
export type KeyForecast =
  | Exclude<KeyOutcome, { readonly kind: 'run' | 'in_progress' | 'left' }>
  | { readonly kind: 'wait'; readonly firstId: string }
  | { readonly kind: 'claim'; readonly after: ClaimedAfter; readonly firstId: string | null };

/** The idempotency keys, as the stage uses them. */
export interface IdempotencyKeys {
  /**
   * Claims the key, or waits for the outcome of the request that has claimed it.
   *
   * @throws StoreUnavailableError if the store cannot be used. The request must not run then.
   */
  begin(request: KeyedRequest): Promise<KeyOutcome<HeldKey>>;
  /** Resolves when no claim is held any more, at the latest after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

export interface IdempotencyKeysOptions extends Omit<ClaimsOptions, 'readKey'> {
  /** The number of duplicates of this process that may wait at one time. */
  readonly maxWaiting: number;
}

/** Reads the state of keys. */
export interface KeyForecasts {
  /**
   * Says what `begin` would do. It reads the key once; it claims nothing and does not wait.
   *
   * @throws StoreUnavailableError if the store cannot be used
   */
  forecast(request: KeyQuestion): Promise<KeyForecast>;
}

/** The part of a request that decides what happens to it. */
export type KeyQuestion = Pick<KeyedRequest, 'name' | 'owner' | 'fingerprint' | 'onUnknown'>;

/** With less time than this to its deadline, a request is not started. */
const MIN_RUN_MS = 5;

/**
 * Claims keys, and waits for keys that others have claimed. A new key costs one round trip to the store before its
 * request is sent.
 */
export class StoredIdempotencyKeys implements IdempotencyKeys, KeyForecasts {
  readonly #options: IdempotencyKeysOptions;
  readonly #store: WatchedStore;
  readonly #readKey: ReadKey;
  readonly #polls: DuplicateWaits<KeyState>;
  readonly #claims: Claims;
  #waiting = 0;

  constructor(options: IdempotencyKeysOptions) {
    this.#options = options;
    this.#store = new WatchedStore(options.store, options.clock);
    this.#readKey = createReadKey(this.#store, options.vault, options.log);
    this.#polls = new DuplicateWaits(options.clock, this.#readKey);
    this.#claims = new Claims({ ...options, store: this.#store, readKey: this.#readKey });
  }

  /** The number of duplicates that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of claims whose request has not ended or whose outcome is not stored yet. */
  get held(): number {
    return this.#claims.held;
  }

  drain(timeoutMs: number): Promise<void> {
    return this.#claims.drain(timeoutMs);
  }

  async begin(request: KeyedRequest): Promise<KeyOutcome> {
    // Most keys are new, so the claim comes before a read.
    let state = NO_ENTRY;
    let waited = false;
    let decision = this.#decide(state, request, waited);
    for (let reads = 0; ; reads += 1) {
      if (decision.kind === 'claim') {
        const { after } = decision;
        const claim = await this.#claims.claim(request, state, headBefore(after, state));
        if (claim !== undefined) return { kind: 'run', claim, after };
      } else if (decision.kind !== 'wait') return this.#outcome(decision, state);
      else waited = true;

      const next = reads === 0 ? this.#readKey(request.name) : this.#nextRead(request, reads - 1);
      const found = await next;
      if (found === 'left') return { kind: 'left' };
      const inProgress = found === 'refused';
      state = inProgress ? state : found;
      decision = this.#decide(state, request, waited);
      if (inProgress || this.#tooLate(decision, request)) {
        return { kind: 'in_progress', firstId: state.entry?.head.request_id };
      }
    }
  }

  async forecast(request: KeyQuestion): Promise<KeyForecast> {
    const state = await this.#readKey(request.name);
    const decision = this.#decide(state, request, false);
    if (decision.kind === 'claim') {
      const bound = this.#store.boundOf(request.owner);
      if (bound !== undefined && (state.entry === undefined || bound === 'bucket'))
        throw noRoom(bound);
      const before = headBefore(decision.after, state);
      return { ...decision, firstId: before?.request_id ?? null };
    }
    if (decision.kind !== 'wait') return this.#outcome(decision, state);
    return { kind: 'wait', firstId: state.entry?.head.request_id ?? '' };
  }

  #decide(state: KeyState, { fingerprint, onUnknown }: KeyQuestion, waited: boolean): KeyDecision {
    const nowMs = this.#options.sharedNowMs();
    const { stable } = this.#store;
    return decideKey(state.entry?.head, { fingerprint, onUnknown, nowMs, stable, waited });
  }

  #tooLate(decision: KeyDecision, request: KeyedRequest): boolean {
    if (decision.kind !== 'wait' && decision.kind !== 'claim') return false;
    return this.#options.clock.monotonicMs() + MIN_RUN_MS >= request.deadlineMs;
  }

  async #outcome(
    decision: Extract<KeyDecision, { kind: 'replay' | 'refuse' }>,
    state: KeyState,
  ): Promise<Extract<KeyOutcome, { kind: 'replay' | 'refuse' }>> {
    const firstId = state.entry?.head.request_id ?? '';
    if (decision.kind === 'refuse') return { ...decision, firstId };
    try {
      return { kind: 'replay', response: await state.response(), firstId };
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      const { log } = this.#options;
      log.error({ request_id: firstId, reason: String(error) }, 'stored response unreadable');
      return { kind: 'refuse', why: 'response_unreadable', firstId };
    }
  }

  /** The next read, or why there is none: `refused` if too many wait or the deadline has passed. */
  async #nextRead(request: KeyedRequest, reads: number): Promise<KeyState | 'refused' | 'left'> {
    const { maxWaiting, metrics, clock } = this.#options;
    if (request.hasLeft()) return 'left';
    if (this.#waiting >= maxWaiting) {
      metrics.waiterRefused();
      return 'refused';
    }
    this.#waiting += 1;
    const over = new AbortController();
    request.whenLeft(() => over.abort());
    try {
      const leftMs = Math.max(0, request.deadlineMs - clock.monotonicMs());
      const found = await Promise.race([
        this.#polls.next(request.name, reads),
        pause(clock, leftMs, over.signal),
      ]);
      if (found !== undefined) return found;
      return request.hasLeft() ? 'left' : 'refused';
    } finally {
      this.#waiting -= 1;
      request.whenLeft(undefined);
      over.abort();
    }
  }
}

/** The head of the entry that a claim replaces, if it says anything about an earlier run. */
function headBefore(after: ClaimedAfter, state: KeyState): EntryHead | undefined {
  return after === 'unknown' || after === 'repeatable' ? state.entry?.head : undefined;
}
