import { messageOf } from '@gateway/shared/errors/message-of';
import { hash } from 'node:crypto';
import type { Clock, Timer } from '@gateway/shared/clock';
import { parseKeySet, type KeySet } from './key-set.ts';

/** Why the fetch of a key set failed, as in the metrics and the log. */
export type FetchFailure =
  | 'unreachable'
  | 'timeout'
  | 'status'
  | 'too_large'
  | 'malformed'
  | 'address_refused'
  | 'dns_failed'
  | 'system_resources';

export class KeySetFetchError extends Error {
  readonly failure: FetchFailure;

  constructor(failure: FetchFailure, message: string) {
    super(message);
    this.name = 'KeySetFetchError';
    this.failure = failure;
  }
}

/** Gets the text of a key set. Rejects with a KeySetFetchError, also when the signal aborts. */
export type FetchKeySet = (url: string, signal: AbortSignal) => Promise<string>;

export interface RemoteKeySetOptions {
  readonly url: string;
  readonly fetch: FetchKeySet;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** Called at the end of every fetch. */
  readonly fetched: (result: 'ok' | FetchFailure, message: string) => void;
  /** Called with the number of dropped keys if a new set has too many. */
  readonly dropped: (keys: number) => void;
}

/** Interval between fetches, less up to a random tenth. */
export const REFRESH_MS = 5 * 60_000;
/** How long the last good set is used while its issuer is unreachable. */
export const MAX_AGE_MS = 24 * 60 * 60_000;
/** The shortest time between two fetches for unknown keys, because anyone can send such a token. */
export const COOLDOWN_MS = 10_000;
const MIN_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 10_000;
/** How many requests may wait for one fetch, because anyone can send such a request. */
const MAX_WAITING = 256;
/**
 * The same limit for the first fetch, which all callers of a route wait for when its issuer has a new
 * URL. `MAX_UNAUTHENTICATED_REQUESTS` bounds the requests that wait for all issuers together.
 */
const MAX_WAITING_FIRST = 2_000;

/**
 * The key set at one URL. It is fetched at creation and then periodically, outside of requests. While the
 * issuer is down, the last good set is used for up to `MAX_AGE_MS`.
 */
export class RemoteKeySet {
  readonly #options: RemoteKeySetOptions;
  readonly #closing = new AbortController();
  #keys: KeySet | undefined = undefined;
  #digest = '';
  #fetchedAtMs = 0;
  #fetching: Promise<void> | undefined = undefined;
  #waiting = 0;
  /** Limit of waiting requests for the current or next fetch. */
  #maxWaiting = MAX_WAITING_FIRST;
  #failures = 0;
  #askedAtMs = -Infinity;
  #dueMs = 0;
  #timer: Timer | undefined = undefined;

  constructor(options: RemoteKeySetOptions) {
    this.#options = options;
    this.#start();
  }

  /** The newest set; the same object as long as the issuer's keys stay the same. */
  get keys(): KeySet | undefined {
    const ageMs = this.#options.clock.monotonicMs() - this.#fetchedAtMs;
    return ageMs < MAX_AGE_MS ? this.#keys : undefined;
  }

  /** Whole seconds until the next fetch, at least 1. */
  get retryAfterSeconds(): number {
    const waitMs = this.#dueMs - this.#options.clock.monotonicMs();
    return Math.max(1, Math.ceil(waitMs / 1000));
  }

  /**
   * Resolves at the end of the current fetch, or of a new one, which may bring missing keys. Undefined if
   * no fetch is allowed now or too many requests already wait.
   */
  renewal(): Promise<void> | undefined {
    if (this.#waiting >= this.#maxWaiting) return undefined;
    if (this.#fetching === undefined) {
      const nowMs = this.#options.clock.monotonicMs();
      if (nowMs - this.#askedAtMs < COOLDOWN_MS) return undefined;
      this.#askedAtMs = nowMs;
      this.#start();
    }
    this.#waiting += 1;
    return this.#fetching;
  }

  /** Cancels the current fetch and stops fetching. */
  close(): void {
    this.#closing.abort();
    this.#timer?.cancel();
  }

  #start(): void {
    this.#timer?.cancel();
    const { url, fetch } = this.#options;
    this.#fetching = fetch(url, this.#closing.signal)
      .then((text) => this.#take(text))
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#fetching = undefined;
        this.#waiting = 0;
        this.#maxWaiting = MAX_WAITING;
      });
  }

  #take(text: string): void {
    const digest = hash('sha256', text);
    if (digest !== this.#digest) {
      const keys = parseKeySet(text);
      if (keys === undefined) throw new KeySetFetchError('malformed', 'it is not a JWK Set');
      this.#keys = keys;
      this.#digest = digest;
      if (keys.dropped > 0) this.#options.dropped(keys.dropped);
    }
    this.#fetchedAtMs = this.#options.clock.monotonicMs();
    this.#failures = 0;
    this.#options.fetched('ok', '');
    this.#schedule(REFRESH_MS * (1 - this.#options.random() / 10));
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const delayMs = Math.min(MIN_BACK_OFF_MS * 2 ** this.#failures, MAX_BACK_OFF_MS);
    this.#failures += 1;
    this.#schedule(delayMs * (1 - this.#options.random() / 10));
    const known = error instanceof KeySetFetchError ? error.failure : 'unreachable';
    this.#options.fetched(known, messageOf(error));
  }

  #schedule(delayMs: number): void {
    if (this.#closing.signal.aborted) return;
    const { clock } = this.#options;
    this.#dueMs = clock.monotonicMs() + delayMs;
    this.#timer = clock.setTimer(delayMs, () => {
      this.#start();
    });
  }
}
