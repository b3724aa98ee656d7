/**
 * Power of two choices: of two upstreams drawn at random, the one with fewer requests in flight for
 * its weight. Nearly as even as asking all of them, without every node running to the same one.
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001).
 */

interface Candidate {
  readonly weight: number;
}

const NONE: ReadonlySet<number> = new Set();

/**
 * Chooses among the candidates and gives the index of the chosen one, or −1 where there are none.
 * Those in `tried` are left out as long as another one is there, so that a retry goes elsewhere.
 *
 * @param random gives numbers in [0, 1)
 */
export function selectUpstream<T extends Candidate>(
  candidates: readonly T[],
  inFlight: (candidate: T) => number,
  tried: ReadonlySet<number>,
  random: () => number,
): number {
  if (candidates.length <= 1) return candidates.length - 1;
  const leaveOut = tried.size < candidates.length ? tried : NONE;
  const first = draw(candidates, leaveOut, -1, random);
  const second = draw(candidates, leaveOut, first, random);
  const one = candidates[first];
  const other = candidates[second];
  if (one === undefined || other === undefined) return first;
  const load = (candidate: T) => (inFlight(candidate) + 1) / candidate.weight;
  return load(other) < load(one) ? second : first;
}

/** Draws one by weight, without the one already drawn and those left out; −1 where none is left. */
function draw(
  candidates: readonly Candidate[],
  leaveOut: ReadonlySet<number>,
  drawn: number,
  random: () => number,
): number {
  let total = 0;
  for (let index = 0; index < candidates.length; index += 1) {
    if (index !== drawn && !leaveOut.has(index)) total += candidates[index]?.weight ?? 0;
  }
  let rest = random() * total;
  let last = -1;
  for (let index = 0; index < candidates.length; index += 1) {
    if (index === drawn || leaveOut.has(index)) continue;
    last = index;
    rest -= candidates[index]?.weight ?? 0;
    if (rest < 0) break;
  }
  return last;
}
