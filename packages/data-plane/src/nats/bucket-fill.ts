import { pause, type Clock } from '@gateway/shared/clock';
import type { NatsLink } from './nats-link.ts';
import { NatsAwayError } from './acked-publisher.ts';

/** The size of a bucket, and its limit. `maxBytes` of 0 or less means that there is no limit. */
export interface BucketSize {
  readonly bytes: number;
  readonly maxBytes: number;
}

const REFRESH_MS = 1000;
/** An older size is read again before a decision, unless that takes too long. */
const MAX_AGE_MS = 10_000;
const MAX_WAIT_MS = 250;

/**
 * How full a bucket is: its size as of the last second, and what was added since. It is read in the background and only
 * when needed, so that hardly any request waits for it.
 */
export class BucketFill {
  readonly #clock: Clock;
  readonly #readSize: () => Promise<BucketSize>;
  #size: BucketSize = { bytes: 0, maxBytes: 0 };
  #added = 0;
  #startedMs = -Infinity;
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined = undefined;

  /** @param readSize if it rejects, the former size stays */
  constructor(clock: Clock, readSize: () => Promise<BucketSize>) {
    this.#clock = clock;
    this.#readSize = readSize;
  }

  /** The limit, bytes; Infinity if there is none, or it is not known yet. */
  get maxBytes(): number {
    return this.#size.maxBytes > 0 ? this.#size.maxBytes : Infinity;
  }

  /** The part of the limit that is used; 0 if it is not known yet. Starts a read in the background if the last one is too old. */
  get part(): number {
    if (this.#clock.monotonicMs() - this.#startedMs >= REFRESH_MS) void this.#refresh();
    return (this.#size.bytes + this.#added) / this.maxBytes;
  }

  /** Resolves when the size is known that the bucket had a few seconds ago, or if that takes too long. Never rejects. */
  async isRecent(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#readAtMs < MAX_AGE_MS) return;
    const over = new AbortController();
    await Promise.race([this.#refresh(), pause(this.#clock, MAX_WAIT_MS, over.signal)]);
    over.abort();
  }

  /** Counts what is about to be stored, until the size is read again. */
  add(bytes: number): void {
    this.#added += bytes;
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.#startedMs = this.#clock.monotonicMs();
    const before = this.#added;
    try {
      this.#size = await this.#readSize();
      this.#added -= before;
      this.#readAtMs = this.#startedMs;
    } catch {
      // If the store is unreachable, its calls fail anyway.
    }
  }
}

/** Reads the size of a stream. */
export function sizeOf(link: NatsLink, stream: string): () => Promise<BucketSize> {
  return async () => {
    const manager = await link.jetstream?.manager;
    if (manager === undefined) throw new NatsAwayError('NATS is away');
    const { state, config } = await manager.streams.info(stream);
    return { bytes: state.bytes, maxBytes: config.max_bytes };
  };
}
