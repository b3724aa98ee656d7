import { pause, type Clock } from '@gateway/shared/clock';

export interface BatchBounds {
  /** A batch is full once its items weigh this much together; the last one may go over it. */
  readonly maxWeight: number;
  /** A batch ends when nothing came for this long, ms. */
  readonly idleMs: number;
  /** A batch ends at the latest this long after its first item, however steadily more come, ms. */
  readonly maxWaitMs: number;
}

/**
 * Gathers what comes singly: one insert of many rows costs little more than one of a few.
 * Nothing is read ahead of the batch but the one item that is being waited for.
 */
export async function* readBatches<T>(
  items: AsyncIterable<T, unknown>,
  weightOf: (item: T) => number,
  bounds: BatchBounds,
  clock: Clock,
): AsyncGenerator<readonly T[]> {
  const iterator = items[Symbol.asyncIterator]();
  let next = nextOf(iterator);
  for (;;) {
    const first = await next;
    if (first.done === true) return;
    const batch = [first.value];
    let weight = weightOf(first.value);
    const endMs = clock.monotonicMs() + bounds.maxWaitMs;
    next = nextOf(iterator);
    while (weight < bounds.maxWeight) {
      const waitMs = Math.min(bounds.idleMs, endMs - clock.monotonicMs());
      const came = waitMs > 0 ? await within(next, waitMs, clock) : undefined;
      if (came === undefined || came.done === true) break;
      batch.push(came.value);
      weight += weightOf(came.value);
      next = nextOf(iterator);
    }
    yield batch;
  }
}

/** It is awaited only after the batch before it was dealt with, and may reject until then. */
function nextOf<T>(iterator: AsyncIterator<T, unknown>): Promise<IteratorResult<T, unknown>> {
  const next = iterator.next();
  next.catch(() => undefined);
  return next;
}

/** Undefined where time is up, or where it rejected: then the batch goes first, the error after it. */
async function within<T>(
  promise: Promise<T>,
  waitMs: number,
  clock: Clock,
): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([
      promise.catch(() => undefined),
      pause(clock, waitMs, settled.signal).then(() => undefined),
    ]);
  } finally {
    settled.abort();
  }
}
