import type { Clock } from '@gateway/shared/clock';

/** How full a bucket is. A largest size that is not positive means that it has none. */
export interface BucketFill {
  readonly bytes: number;
  readonly maxBytes: number;
}

/**
 * Past this part of its largest size a bucket takes no new keys: the rest is for the ends of requests
 * that are under way, without which nobody would know what came of them.
 */
const NEW_KEYS_PART = 0.9;
const REFRESH_MS = 1000;

/**
 * Whether a bucket has room for new keys, give or take a second. It is asked in the background, and only
 * while somebody wants to know, so that nobody waits for it.
 */
export class BucketRoom {
  readonly #clock: Clock;
  readonly #ask: () => Promise<BucketFill>;
  #askedAtMs = -Infinity;
  #hasRoom = true;

  /** @param ask may reject: then what was known before stands */
  constructor(clock: Clock, ask: () => Promise<BucketFill>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  get hasRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#askedAtMs >= REFRESH_MS) {
      this.#askedAtMs = nowMs;
      void this.#refresh();
    }
    return this.#hasRoom;
  }

  async #refresh(): Promise<void> {
    try {
      const { bytes, maxBytes } = await this.#ask();
      this.#hasRoom = maxBytes <= 0 || bytes < maxBytes * NEW_KEYS_PART;
    } catch {
      // A store that is away refuses by itself.
    }
  }
}
