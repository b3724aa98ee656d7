/** The upper bound of the first bucket, ms. */
const FIRST_MS = 0.5;
/** Four buckets for each doubling. */
const BUCKETS_PER_DOUBLING = 4;

/** The number of buckets: up to 12 minutes. The last one has no upper bound. */
export const DURATION_BUCKETS = 84;

/** How far a quantile of the histogram may be off: the middle of a bucket is this far from its bounds. */
export const QUANTILE_ERROR = 2 ** (1 / (2 * BUCKETS_PER_DOUBLING)) - 1;

/** The bucket of a duration: its upper bound is included. */
export function durationBucket(ms: number): number {
  if (!(ms > FIRST_MS)) return 0;
  const index = Math.ceil(Math.log2(ms / FIRST_MS) * BUCKETS_PER_DOUBLING);
  return Math.min(DURATION_BUCKETS - 1, index);
}

/**
 * The quantile `q` by the nearest rank, ms: at least this part of the durations is not longer. It is the middle of its
 * bucket, so it is at most `QUANTILE_ERROR` off, between half a millisecond and twelve minutes.
 *
 * @param counts of the buckets
 * @returns undefined if nothing is counted
 */
export function durationQuantile(counts: readonly number[], q: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const rank = Math.max(1, Math.ceil(total * q));
  let below = 0;
  for (const [index, count] of counts.entries()) {
    below += count;
    if (below >= rank) return FIRST_MS * 2 ** ((index - 0.5) / BUCKETS_PER_DOUBLING);
  }
  return undefined;
}
