import type { Clock } from '@gateway/shared/clock';

/** How full a bucket is. `maxBytes` of 0 or less means that there is no limit. */
export interface BucketFill {
  readonly bytes: number;
  readonly maxBytes: number;
}

/**
 * Above this part of its limit a bucket accepts no new keys. The rest is for the outcomes of requests in flight, which
 * would otherwise stay unknown.
 */
const NEW_KEYS_PART = 0.9;
const REFRESH_MS = 1000;

/**
 * Whether a bucket has room for new keys, as of the last second. It is read in the background and only when needed, so
 * that no request waits for it.
 */
export class BucketRoom {
  readonly #clock: Clock;
  readonly #readFill: () => Promise<BucketFill>;
  #readAtMs = -Infinity;
  #hasRoom = true;

  /** @param readFill if it rejects, the former result stays */
  constructor(clock: Clock, readFill: () => Promise<BucketFill>) {
    this.#clock = clock;
    this.#readFill = readFill;
  }

  /** Whether new keys are accepted. Starts a read in the background if the last one is too old. */
  get hasRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#readAtMs >= REFRESH_MS) {
      this.#readAtMs = nowMs;
      void this.#refresh();
    }
    return this.#hasRoom;
  }

  async #refresh(): Promise<void> {
    try {
      const { bytes, maxBytes } = await this.#readFill();
      this.#hasRoom = maxBytes <= 0 || bytes < maxBytes * NEW_KEYS_PART;
    } catch {
      // If the store is unreachable, its calls fail anyway.
    }
  }
}
