/**
 * The value below or at which the given share of the values lies (nearest rank).
 *
 * @param rank from above 0 to 1: 0.5 is the median, 1 the largest.
 */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(rank * sorted.length) - 1] ?? Number.NaN;
}
