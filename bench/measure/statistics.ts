/** The middle value; for an even number of values the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/**
 * The nearest-rank percentile.
 *
 * @param rank from 0 to 1
 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(rank * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * The two values between which the median of the population lies with a confidence of 95 %: order statistics, which assume
 * no distribution (Conover, Practical Nonparametric Statistics, section 3.2). NaN below 6 values.
 */
export function medianInterval(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  // How many of the values are below the median is binomial with 1/2.
  let probability = 0.5 ** count;
  let below = probability;
  let rank = 0;
  while (below <= 0.025) {
    rank += 1;
    probability *= (count - rank + 1) / rank;
    below += probability;
  }
  return [sorted[rank - 1] ?? NaN, sorted[count - rank] ?? NaN];
}
