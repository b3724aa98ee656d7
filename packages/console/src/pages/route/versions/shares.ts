import type { Route } from '../../../api/client.ts';

/** The versions of a route, with their weights. */
export type Versions = NonNullable<Route['versions']>;

/** A version as far as its share matters. */
interface Weighted {
  readonly weight: number;
}

const USUAL_SUM = 100;
/** Of one version, as the API allows. */
const MAX_WEIGHT = 1000;

/** The shares by which a canary grows, percent. */
export const STEPS = [1, 5, 10, 25, 50, 100] as const;

function sumOf(versions: readonly Weighted[]): number {
  return versions.reduce((total, one) => total + one.weight, 0);
}

/** The sum of the weights that a change of shares leaves: so large that a percent can be set. */
function wholeOf(versions: readonly Weighted[]): number {
  const sum = sumOf(versions);
  return sum < USUAL_SUM || sum > MAX_WEIGHT ? USUAL_SUM : sum;
}

/** The part of the requests that a version gets, in percent; 0 if all weights are 0. */
export function shareOf(versions: readonly Weighted[], index: number): number {
  const sum = sumOf(versions);
  return sum === 0 ? 0 : ((versions[index]?.weight ?? 0) / sum) * 100;
}

/** The versions with this share of one of them; the others keep their proportions. */
export function withShare<Version extends Weighted>(
  versions: readonly Version[],
  index: number,
  percent: number,
): readonly Version[] {
  const whole = wholeOf(versions);
  const own = Math.round((whole * percent) / 100);
  const others = versions.filter((_version, at) => at !== index);
  return spread(versions, index, own, whole - own, sumOf(others));
}

/** Deals what is left to the other versions, whole numbers whose sum is exact. */
function spread<Version extends Weighted>(
  versions: readonly Version[],
  index: number,
  own: number,
  left: number,
  othersSum: number,
): readonly Version[] {
  const count = versions.length - 1;
  let dealt = 0;
  let seen = 0;
  return versions.map((version, at) => {
    if (at === index) return { ...version, weight: own };
    // Equal parts if none of them had any.
    seen += othersSum === 0 ? 1 / count : version.weight / othersSum;
    const weight = Math.round(left * seen) - dealt;
    dealt += weight;
    return { ...version, weight };
  });
}

/** The place of each divider between two versions: the share of all before it, percent. */
export function dividersOf(versions: readonly Weighted[]): readonly number[] {
  let before = 0;
  return versions.slice(0, -1).map((_version, index) => {
    before += shareOf(versions, index);
    return before;
  });
}

/** The versions after a divider was moved to this place, percent: only the two beside it change. */
export function withDivider<Version extends Weighted>(
  versions: readonly Version[],
  divider: number,
  percent: number,
): readonly Version[] {
  const whole = wholeOf(versions);
  const scaled = scaledTo(versions, whole);
  const before = sumOf(scaled.slice(0, divider));
  const both = sumOf(scaled.slice(divider, divider + 2));
  const left = Math.min(both, Math.max(0, Math.round((whole * percent) / 100) - before));
  return scaled.map((version, at) => {
    if (at === divider) return { ...version, weight: left };
    return at === divider + 1 ? { ...version, weight: both - left } : version;
  });
}

function scaledTo<Version extends Weighted>(
  versions: readonly Version[],
  whole: number,
): readonly Version[] {
  const sum = sumOf(versions);
  if (sum === whole) return versions;
  return spread([...versions, { weight: 0 } as Version], versions.length, 0, whole, sum).slice(
    0,
    -1,
  );
}
