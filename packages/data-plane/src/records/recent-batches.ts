import type { Clock } from '@gateway/shared/clock';
import type { RecordBatch } from './record-batcher.ts';

export interface RecentBatchesOptions {
  readonly clock: Clock;
  /** How much longer than its acknowledgement a batch is kept, as long as others follow it. */
  readonly keptMs: number;
  /** Of their bodies together; past it the oldest go. */
  readonly maxBytes: number;
}

/** Where in the ring the body of a batch lies. */
interface Kept {
  readonly id: string;
  readonly records: number;
  readonly start: number;
  readonly bytes: number;
  readonly atMs: number;
}

/**
 * The batches that NATS stored last. Until a control plane has read them they are nowhere else, and a
 * server that comes back without its data has lost them.
 *
 * Their bodies are copied into one ring: each kept as it is would live long enough to become old
 * garbage, a kilobyte for every request, which V8 collects by marking the whole heap.
 */
export class RecentBatches {
  readonly #options: RecentBatchesOptions;
  /** Its pages become resident as they are written. */
  readonly #ring: Buffer;
  /** Oldest first, in the order of the ring. */
  #batches: Kept[] = [];
  #bytes = 0;
  /** Behind the newest body. */
  #end = 0;

  constructor(options: RecentBatchesOptions) {
    this.#options = options;
    this.#ring = Buffer.allocUnsafeSlow(options.maxBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A batch was acknowledged now. */
  add({ id, records, body }: RecordBatch): void {
    const { clock, keptMs, maxBytes } = this.#options;
    const atMs = clock.monotonicMs();
    const bytes = body.length;
    this.#dropWhile((oldest) => bytes > maxBytes || atMs - oldest.atMs > keptMs);
    if (bytes > maxBytes) return;
    if (this.#end + bytes > maxBytes) {
      // A body lies in one piece: what is left at the end of the ring stays unused.
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

  #dropWhile(isOver: (oldest: Kept) => boolean): void {
    for (let [oldest] = this.#batches; oldest !== undefined; [oldest] = this.#batches) {
      if (!isOver(oldest)) return;
      this.#batches.shift();
      this.#bytes -= oldest.bytes;
    }
  }

  /** Gives all of them, oldest first, and keeps none. */
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
