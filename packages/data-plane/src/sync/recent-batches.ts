import type { Clock } from '@gateway/shared/clock';
import type { RecordBatch } from './record-batcher.ts';

export interface RecentBatchesOptions {
  readonly clock: Clock;
  /** How much longer than its acknowledgement a batch is kept, as long as others follow it. */
  readonly keptMs: number;
  /** Of their bodies together; past it the oldest go. */
  readonly maxBytes: number;
}

/**
 * The batches that NATS stored last. Until a control plane has read them they are nowhere else, and a
 * server that comes back without its data has lost them.
 */
export class RecentBatches {
  readonly #options: RecentBatchesOptions;
  /** Oldest first. */
  #batches: { readonly batch: RecordBatch; readonly atMs: number }[] = [];
  #bytes = 0;

  constructor(options: RecentBatchesOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A batch was acknowledged now. */
  add(batch: RecordBatch): void {
    const { clock, keptMs, maxBytes } = this.#options;
    const atMs = clock.monotonicMs();
    this.#batches.push({ batch, atMs });
    this.#bytes += batch.body.length;
    for (let [oldest] = this.#batches; oldest !== undefined; [oldest] = this.#batches) {
      if (this.#bytes <= maxBytes && atMs - oldest.atMs <= keptMs) return;
      this.#batches.shift();
      this.#bytes -= oldest.batch.body.length;
    }
  }

  /** Gives all of them, oldest first, and keeps none. */
  takeAll(): readonly RecordBatch[] {
    const taken = this.#batches.map(({ batch }) => batch);
    this.#batches = [];
    this.#bytes = 0;
    return taken;
  }
}
