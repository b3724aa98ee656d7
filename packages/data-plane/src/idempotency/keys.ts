import { pause } from '@gateway/shared/clock';
import type { Claim } from './claim.ts';
import { Claims, type ClaimsOptions } from './claims.ts';
import { decideKey, type KeyDecision } from './decide-key.ts';
import { createLook, NOTHING_SEEN, type LookAtKey, type SeenKey } from './look.ts';
import { Polls } from './polls.ts';
import { SteadyStore } from './steady-store.ts';
import { StoreUnavailableError } from './idempotency-store.ts';
import type { StoredAnswer } from './vault.ts';

/** A request with a key, as the store is asked about it. */
export interface KeyedRequest {
  /** Where its key is kept; holds nothing of the key itself. */
  readonly name: string;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly onUnknown: 'refuse' | 'forward';
  /** By the monotonic clock: until when it waits for another request with its key. */
  readonly deadlineMs: number;
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
  /** Told of time that went by waiting for another request. */
  readonly waited: (ms: number) => void;
}

/** What is to become of a request with a key. `firstId` is the request that claimed the key. */
export type KeyOutcome =
  | { readonly kind: 'run'; readonly claim: Claim; readonly forwarded: boolean }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer; readonly firstId: string }
  | {
      readonly kind: 'refuse';
      readonly why: 'conflict' | 'outcome_unknown' | 'answer_unreadable';
      readonly firstId: string;
    }
  | { readonly kind: 'in_progress'; readonly firstId: string | undefined }
  | { readonly kind: 'left' };

/** The keys of all data planes, as the pipeline of one sees them. */
export interface IdempotencyKeys {
  /**
   * Claims the key, or finds out what becomes of the request that did, for as long as that takes.
   *
   * @throws StoreUnavailableError where the store cannot be asked: the request must not run then
   */
  begin(request: KeyedRequest): Promise<KeyOutcome>;
  /** Resolves when no claim is held any more, or after the time. */
  drain(timeoutMs: number): Promise<void>;
}

export interface IdempotencyKeysOptions extends Omit<ClaimsOptions, 'look'> {
  /** Requests of this process that may wait for others at one time. */
  readonly maxWaiting: number;
}

/** With less left of its deadline than this a request is not begun. */
const MIN_RUN_MS = 5;

/**
 * Claims keys and waits for those that others have claimed. A new key
 * costs one round trip to the store before its request is sent.
 */
export class StoredIdempotencyKeys implements IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions;
  readonly #store: SteadyStore;
  readonly #look: LookAtKey;
  readonly #polls: Polls<SeenKey>;
  readonly #claims: Claims;
  #waiting = 0;

  constructor(options: IdempotencyKeysOptions) {
    this.#options = options;
    this.#store = new SteadyStore(options.store, options.clock);
    this.#look = createLook(this.#store, options.vault, options.log);
    this.#polls = new Polls(options.clock, this.#look);
    this.#claims = new Claims({ ...options, store: this.#store, look: this.#look });
  }

  /** Requests that wait for others now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Claims whose requests have not ended, or whose end is not stored yet. */
  get held(): number {
    return this.#claims.held;
  }

  drain(timeoutMs: number): Promise<void> {
    return this.#claims.drain(timeoutMs);
  }

  async begin(request: KeyedRequest): Promise<KeyOutcome> {
    // Most keys are new, so claiming comes before looking.
    let seen = NOTHING_SEEN;
    let decision = this.#decide(seen, request);
    for (let looks = 0; ; looks += 1) {
      if (decision.kind === 'claim') {
        const claim = await this.#claims.claim(request, seen.revision);
        if (claim !== undefined) {
          return { kind: 'run', claim, forwarded: decision.after === 'unknown' };
        }
      } else if (decision.kind !== 'wait') return this.#settled(decision, seen);

      const next = looks === 0 ? this.#look(request.name) : this.#nextLook(request, looks - 1);
      const found = await next;
      if (found === 'left') return { kind: 'left' };
      const inProgress = found === 'refused';
      seen = inProgress ? seen : found;
      decision = this.#decide(seen, request);
      if (inProgress || this.#tooLate(decision, request)) {
        return { kind: 'in_progress', firstId: seen.entry?.head.request_id };
      }
    }
  }

  #decide(seen: SeenKey, { fingerprint, onUnknown }: KeyedRequest): KeyDecision {
    const nowMs = this.#options.sharedNowMs();
    const { steady } = this.#store;
    return decideKey(seen.entry?.head, { fingerprint, onUnknown, nowMs, steady });
  }

  #tooLate(decision: KeyDecision, request: KeyedRequest): boolean {
    if (decision.kind !== 'wait' && decision.kind !== 'claim') return false;
    return this.#options.clock.monotonicMs() + MIN_RUN_MS >= request.deadlineMs;
  }

  async #settled(
    decision: Extract<KeyDecision, { kind: 'replay' | 'refuse' }>,
    seen: SeenKey,
  ): Promise<KeyOutcome> {
    const firstId = seen.entry?.head.request_id ?? '';
    if (decision.kind === 'refuse') return { ...decision, firstId };
    try {
      return { kind: 'replay', answer: await seen.answer(), firstId };
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      const { log } = this.#options;
      log.error({ request_id: firstId, reason: String(error) }, 'a kept answer cannot be read');
      return { kind: 'refuse', why: 'answer_unreadable', firstId };
    }
  }

  /** The next look, or why there is none: too many wait or the time is up, or the caller left. */
  async #nextLook(request: KeyedRequest, looks: number): Promise<SeenKey | 'refused' | 'left'> {
    const { maxWaiting, metrics, clock } = this.#options;
    if (hasLeft(request)) return 'left';
    if (this.#waiting >= maxWaiting) {
      metrics.waiterRefused();
      return 'refused';
    }
    this.#waiting += 1;
    const startedMs = clock.monotonicMs();
    const over = new AbortController();
    const stop = () => over.abort();
    request.signal.addEventListener('abort', stop);
    try {
      const leftMs = Math.max(0, request.deadlineMs - startedMs);
      const found = await Promise.race([
        this.#polls.next(request.name, looks),
        pause(clock, leftMs, over.signal),
      ]);
      if (found !== undefined) return found;
      return hasLeft(request) ? 'left' : 'refused';
    } finally {
      this.#waiting -= 1;
      request.waited(clock.monotonicMs() - startedMs);
      request.signal.removeEventListener('abort', stop);
      over.abort();
    }
  }
}

function hasLeft(request: KeyedRequest): boolean {
  return request.signal.aborted;
}
