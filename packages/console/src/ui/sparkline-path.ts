/** Points of a line in a box, the largest value at its top and 0 at its bottom: the `points` of an SVG polyline. */
export function sparklinePoints(
  values: readonly number[],
  width: number,
  height: number,
  largest = Math.max(0, ...values),
): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values
    .map((value, index) => {
      const y = largest === 0 ? height : height - (value / largest) * height;
      return `${rounded(index * step)},${rounded(y)}`;
    })
    .join(' ');
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
