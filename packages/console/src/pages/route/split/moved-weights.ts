/** A version as far as its share matters. */
interface Weighted {
  readonly weight: number;
}

const USUAL_SUM = 100;

/** The right end of the sliders: the sum of the weights of two versions, else the largest weight, at least 100. */
export function largestWeight(versions: readonly Weighted[]): number {
  const weights = versions.map(({ weight }) => weight);
  if (weights.length === 2) return Math.min(1000, sum(weights) || USUAL_SUM);
  return Math.max(USUAL_SUM, ...weights);
}

/**
 * The versions with the new weight of one of them. If there are two, the sum of their weights stays, so the other one
 * changes by as much. If there are more, the other weights stay.
 */
export function movedWeights<Version extends Weighted>(
  versions: readonly Version[],
  index: number,
  weight: number,
): readonly Version[] {
  const whole = largestWeight(versions);
  return versions.map((version, at) => {
    if (at === index) return { ...version, weight };
    return versions.length === 2 ? { ...version, weight: whole - weight } : version;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
