import { pause, type Clock } from '@gateway/shared/clock';

export interface BatchBounds {
  /** A batch is full when its items reach this weight together; the last one may exceed it. */
  readonly maxWeight: number;
  /** A batch ends when no item came for this long, ms. */
  readonly idleMs: number;
  /** A batch ends at most this long after its first item, ms. */
  readonly maxWaitMs: number;
}

/**
 * Collects items to batches, because one insert of many rows costs little more than one of a few. At most one
 * item is read ahead of the batch.
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

/** The promise is awaited only after the batch before it, and may reject earlier. */
function nextOf<T>(iterator: AsyncIterator<T, unknown>): Promise<IteratorResult<T, unknown>> {
  const next = iterator.next();
  next.catch(() => undefined);
  return next;
}

/** Undefined after the time, or if the promise rejects: the batch is yielded first, the error follows. */
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
