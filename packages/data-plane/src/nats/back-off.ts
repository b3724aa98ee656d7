export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait before another try, ms: doubling up to a bound, and a random part of up to half of
 * it taken off, so that a fleet whose server was away does not come back in step.
 *
 * @param failures in a row, at least 1
 * @param random a number in [0, 1)
 */
export function backOffMs(failures: number, backOff: BackOff, random: number): number {
  const ceilingMs = Math.min(backOff.maxMs, backOff.firstMs * 2 ** (failures - 1));
  return ceilingMs * (1 - random / 2);
}
