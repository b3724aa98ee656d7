import { placeOf, type TimeRange } from './time-scale.ts';

/** The box in which paths are drawn; it is stretched to the size of the chart. */
export const BOX = { width: 1000, height: 100 } as const;

/** The part of a step that stays free between bars. */
const GAP = 0.16;

type Values = readonly (number | null)[];

/** Where each value begins if the values of a step stand on each other, the first series at the bottom. */
export function stackBases(series: readonly Values[]): readonly (readonly number[])[] {
  const below: number[] = [];
  return series.map((values) =>
    values.map((value, index) => {
      const base = below[index] ?? 0;
      below[index] = base + (value ?? 0);
      return base;
    }),
  );
}

/** The height of the highest stack. */
export function largestStack(series: readonly Values[]): number {
  const steps = Math.max(0, ...series.map(({ length }) => length));
  const sums = Array.from({ length: steps }, (_none, index) =>
    series.reduce((sum, values) => sum + (values[index] ?? 0), 0),
  );
  return Math.max(0, ...sums);
}

/** The bars of one series, as the `d` of an SVG path. */
export function barsPath(
  values: Values,
  bases: readonly number[],
  steps: readonly TimeRange[],
  range: TimeRange,
  largest: number,
): string {
  return values
    .map((value, index) => {
      const step = steps[index];
      if (step === undefined || value === null || value <= 0 || largest <= 0) return '';
      const left = placeOf(step.fromMs, range) * BOX.width;
      const wide = placeOf(step.toMs, range) * BOX.width - left;
      const height = (value / largest) * BOX.height;
      const bottom = BOX.height - ((bases[index] ?? 0) / largest) * BOX.height;
      const x = rounded(left + (wide * GAP) / 2);
      return `M${x} ${rounded(bottom)}v${rounded(-height)}h${rounded(wide * (1 - GAP))}v${rounded(height)}z`;
    })
    .join('');
}

/** A line through the middle of the steps, as the `d` of an SVG path. A step without a value is a gap. */
export function linePath(
  values: Values,
  steps: readonly TimeRange[],
  range: TimeRange,
  largest: number,
): string {
  let path = '';
  let isDrawing = false;
  values.forEach((value, index) => {
    const step = steps[index];
    if (step === undefined || value === null || largest <= 0) {
      isDrawing = false;
      return;
    }
    const x = rounded(placeOf((step.fromMs + step.toMs) / 2, range) * BOX.width);
    const y = rounded(BOX.height - (value / largest) * BOX.height);
    // A value between gaps is a dash as wide as a bar, which would otherwise not be seen.
    const isAlone = !isDrawing && (values[index + 1] ?? null) === null;
    const wide = (placeOf(step.toMs, range) - placeOf(step.fromMs, range)) * BOX.width * (1 - GAP);
    path += isAlone
      ? `M${rounded(x - wide / 2)} ${y}h${rounded(wide)}`
      : `${isDrawing ? 'L' : 'M'}${x} ${y}`;
    isDrawing = true;
  });
  return path;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
