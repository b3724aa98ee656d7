import type { Draft } from './draft.ts';
import { within } from './values.ts';

const MAX_UPSTREAMS = 64;

/** An address of a service with its share of the requests. */
interface Target {
  readonly url: string;
  readonly weight: number;
}

/** Sets the upstreams of a service. Those that it cannot have leave it out. */
export function setUpstreams(service: Draft, targets: readonly Target[]): void {
  const weights = weightsOf(targets.map(({ weight }) => weight));
  service.fields.set(
    'upstreams',
    targets.map(({ url }, at) => ({ url, weight: weights[at] })),
  );
  // What the share of such an address is depends on the source and its version.
  if (new Set(targets.map(({ url }) => url)).size < targets.length) {
    service.leftOut ??= 'an address stands in it twice';
  }
  if (targets.length > MAX_UPSTREAMS) {
    service.leftOut ??= `it has more than ${MAX_UPSTREAMS} addresses`;
  }
}

/** The weights of upstreams from 1 to 1000; the ratios are kept as far as whole numbers can. */
function weightsOf(weights: readonly number[]): readonly number[] {
  const whole = weights.every((weight) => Number.isSafeInteger(weight));
  const divisor = whole ? weights.reduce(greatestDivisor, 0) : 1;
  const smallest = weights.map((weight) => weight / (divisor || 1));
  const factor = Math.min(1, 1000 / Math.max(1, ...smallest));
  return smallest.map((weight) => within(weight * factor, 1, 1000));
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
