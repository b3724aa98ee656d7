import type { Clock } from '@gateway/shared/clock';
import type { RecordBatch } from './record-batcher.ts';

export interface RecentBatchesOptions {
  readonly clock: Clock;
  /** How long a batch is kept after its acknowledgement, if others follow, ms. */
  readonly keptMs: number;
  /** The limit of all bodies together. Above it the oldest batches are removed. */
  readonly maxBytes: number;
}

/** A batch and the position of its body in the ring. */
interface Kept {
  readonly id: string;
  readonly records: number;
  readonly start: number;
  readonly bytes: number;
  readonly atMs: number;
}

/**
 * Keeps the last batches that NATS has stored. Until a control plane has read them they are stored nowhere else, and a
 * server that returns without its data has lost them.
 *
 * The bodies are copied into one ring buffer. Separate buffers, a kilobyte for each request, would survive until V8 moves
 * them to the old generation, which is collected by marking the whole heap.
 */
export class RecentBatches {
  readonly #options: RecentBatchesOptions;
  /** Its memory becomes resident when it is written. */
  readonly #ring: Buffer;
  /** Oldest first, in the order of the ring. */
  #batches: Kept[] = [];
  #bytes = 0;
  /** The position after the newest body. */
  #end = 0;

  constructor(options: RecentBatchesOptions) {
    this.#options = options;
    this.#ring = Buffer.allocUnsafeSlow(options.maxBytes);
  }

  /** The size of all kept bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a batch that was acknowledged now. */
  add({ id, records, body }: RecordBatch): void {
    const { clock, keptMs, maxBytes } = this.#options;
    const atMs = clock.monotonicMs();
    const bytes = body.length;
    this.#dropWhile((oldest) => bytes > maxBytes || atMs - oldest.atMs > keptMs);
    if (bytes > maxBytes) return;
    if (this.#end + bytes > maxBytes) {
      // A body is stored contiguously, so the rest at the end of the ring stays unused.
      this.#dropWhile(({ start }) => start >= this.#end);
      this.#end = 0;
    }
    const start = this.#end;
    this.#end += bytes;
    this.#dropWhile((oldest) => oldest.start >= start && oldest.start < this.#end);
    this.#ring.set(body, start);
    this.#batches.push({ id, records, start, bytes, atMs });
    this.#bytes += bytes;
  }

  #dropWhile(isOutdated: (oldest: Kept) => boolean): void {
    for (let [oldest] = this.#batches; oldest !== undefined; [oldest] = this.#batches) {
      if (!isOutdated(oldest)) return;
      this.#batches.shift();
      this.#bytes -= oldest.bytes;
    }
  }

  /** Returns all batches, oldest first, and removes them. */
  takeAll(): readonly RecordBatch[] {
    const taken = this.#batches.map(({ id, records, start, bytes }) => ({
      id,
      records,
      body: Buffer.from(this.#ring.subarray(start, start + bytes)),
    }));
    this.#batches = [];
    this.#bytes = 0;
    this.#end = 0;
    return taken;
  }
}
