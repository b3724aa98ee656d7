import UPlot from 'uplot';

type Values = readonly (number | null)[];

/** How much of its step a bar fills, and how wide it is at most, px. */
const BAR_SIZE: [number, number] = [0.8, 32];

/** A series of bars. */
export function barsOf(color: string): Partial<UPlot.Series> {
  return {
    width: 0,
    fill: color,
    points: { show: false },
    // uPlot leaves out paths in its build for small pages.
    ...(UPlot.paths.bars === undefined ? {} : { paths: UPlot.paths.bars({ size: BAR_SIZE }) }),
  };
}

/**
 * The tops of bars that stand on each other: each is the sum of its own value and those of all later series, so that a
 * later one is drawn over the lower part of an earlier one.
 */
export function stackedValues(series: readonly Values[]): number[][] {
  const stacked: number[][] = [];
  let below: readonly number[] = [];
  for (const values of series.toReversed()) {
    const tops = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    stacked.unshift(tops);
    below = tops;
  }
  return stacked;
}
