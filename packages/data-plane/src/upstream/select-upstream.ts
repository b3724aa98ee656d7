/**
 * Selects the upstream of an attempt: the best ones by health and region, and among those the power of two choices. Of
 * two drawn at random by weight, the one with fewer requests in flight for its weight is taken. That is nearly as even as
 * a comparison of all, and data planes do not all select the same one. Source: Mitzenmacher, "The Power of Two Choices
 * in Randomized Load Balancing" (2001).
 */

interface Candidate {
  readonly weight: number;
  /** null: counts as the region of every data plane. */
  readonly region: string | null;
}

/** The health of a candidate. */
interface CandidateHealth {
  readonly usable: boolean;
  /** Whether failed requests have ejected it. */
  readonly ejected: boolean;
  /** Whether the last attempt or check got a connection. */
  readonly reachable: boolean;
}

export interface SelectionOptions<T> {
  /** The region of this data plane. */
  readonly region: string;
  readonly load: { inFlight(candidate: T): number };
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** Ranks; the lowest is the best. The distance of the region is added, which is always less than their difference. */
const OTHER_REGION = 100;
const TRIED = 1000;
const NOT_USABLE = 2000;
const EJECTED = 3000;
const NOT_USABLE_AGAIN = 4000;
const UNREACHABLE = 5000;
const UNREACHABLE_AGAIN = 6000;
/** After this many attempts of one request, upstreams of other regions are preferred to those of the own region. */
const ATTEMPTS_IN_OWN_REGION = 2;

/**
 * Selects one of the candidates and returns its index, or −1 if there are none.
 *
 * The best are the healthy ones of the own region that this request has not tried, then the healthy ones of the regions
 * of the route in their order, then the healthy ones of any region. If none of these is left: one that was tried and was
 * reachable, then one that fails its checks, then an ejected one, and last one that was unreachable. So a service without
 * a healthy upstream is still tried, on all of its upstreams.
 *
 * @param health of the candidates, in their order
 * @param regions the failover order of the route
 * @param tried indices of the candidates that this request has tried
 */
export function selectUpstream<T extends Candidate>(
  candidates: readonly T[],
  health: readonly CandidateHealth[],
  regions: readonly string[],
  tried: ReadonlySet<number>,
  options: SelectionOptions<T>,
): number {
  if (candidates.length <= 1) return candidates.length - 1;
  let best = Infinity;
  let total = 0;
  for (let index = 0; index < candidates.length; index += 1) {
    const ranked = rank(candidates, health, regions, tried, options.region, index);
    ranks[index] = ranked;
    if (ranked < best) {
      best = ranked;
      total = 0;
    }
    if (ranked === best) total += candidates[index]?.weight ?? 0;
  }
  const first = draw(candidates, best, options.random() * total, -1);
  const one = candidates[first];
  const restOfWeight = total - (one?.weight ?? 0);
  const second = draw(candidates, best, options.random() * restOfWeight, first);
  const other = candidates[second];
  if (one === undefined || other === undefined) return first;
  return isBetter(other, one, options) ? second : first;
}

/**
 * As `selectUpstream`, but of the best ones the one with the highest score, whatever is in flight.
 *
 * @param region the region of this data plane
 * @param scoreOf returns a number above 0
 */
export function selectByScore<T extends Candidate>(
  candidates: readonly T[],
  health: readonly CandidateHealth[],
  regions: readonly string[],
  tried: ReadonlySet<number>,
  region: string,
  scoreOf: (candidate: T) => number,
): number {
  let chosen = -1;
  let best = Infinity;
  let highest = 0;
  candidates.forEach((candidate, index) => {
    const ranked = rank(candidates, health, regions, tried, region, index);
    if (ranked > best) return;
    const score = scoreOf(candidate);
    if (ranked === best && score <= highest) return;
    best = ranked;
    highest = score;
    chosen = index;
  });
  return chosen;
}

/**
 * The ranks of the candidates of the selection that is running. Each is read three times, and a rank costs more than
 * all else of a selection. Shared, so that a selection allocates nothing.
 */
const ranks: number[] = [];

/** Where a candidate stands for the first attempt of a request, the best first. */
export type CandidateGroup =
  | 'own_region'
  | 'failover_region'
  | 'other_region'
  | 'failing_checks'
  | 'ejected'
  | 'unreachable';

/** The rank of each candidate for the first attempt of a request; `selectUpstream` draws among the lowest. */
export function rankCandidates(
  candidates: readonly Candidate[],
  health: readonly CandidateHealth[],
  regions: readonly string[],
  region: string,
): readonly { readonly rank: number; readonly group: CandidateGroup }[] {
  return candidates.map((_candidate, index) => {
    const ranked = rank(candidates, health, regions, NONE_TRIED, region, index);
    return { rank: ranked, group: groupOf(ranked) };
  });
}

const NONE_TRIED: ReadonlySet<number> = new Set();

function groupOf(ranked: number): CandidateGroup {
  if (ranked >= UNREACHABLE) return 'unreachable';
  if (ranked >= EJECTED) return 'ejected';
  if (ranked >= NOT_USABLE) return 'failing_checks';
  if (ranked >= OTHER_REGION) return 'other_region';
  return ranked > 0 ? 'failover_region' : 'own_region';
}

/**
 * Whether the candidate with this request added would have no more in flight for its weight than the one drawn first has
 * now. So the weighted draw decides while little is in flight, and a candidate of small weight gets its share of a small
 * load and no more.
 */
function isBetter<T extends Candidate>(candidate: T, drawn: T, { load }: SelectionOptions<T>) {
  const withIt = (load.inFlight(candidate) + 1) / candidate.weight;
  return withIt <= load.inFlight(drawn) / drawn.weight;
}

/** The rank of a candidate; the lowest is the best. */
function rank(
  candidates: readonly Candidate[],
  health: readonly CandidateHealth[],
  regions: readonly string[],
  tried: ReadonlySet<number>,
  region: string,
  index: number,
): number {
  const state = health[index];
  const wasTried = tried.size > 0 && tried.has(index);
  const isReachable = state?.reachable ?? true;
  if (state === undefined || state.usable) {
    const distance = distanceOf(candidates[index]?.region ?? null, region, regions, tried.size);
    if (!wasTried) return distance;
    return isReachable ? TRIED + distance : UNREACHABLE_AGAIN;
  }
  if (!isReachable) return wasTried ? UNREACHABLE_AGAIN : UNREACHABLE;
  if (wasTried) return NOT_USABLE_AGAIN;
  return state.ejected ? EJECTED : NOT_USABLE;
}

function distanceOf(
  region: string | null,
  own: string,
  regions: readonly string[],
  attemptsMade: number,
): number {
  if (region === null || region === own) {
    return attemptsMade < ATTEMPTS_IN_OWN_REGION ? 0 : OTHER_REGION + 1;
  }
  const index = regions.indexOf(region);
  return index === -1 ? OTHER_REGION : 1 + index;
}

/**
 * The candidate of this rank, other than the one already drawn, at this place of their summed weights; −1 if none is
 * left.
 */
function draw(candidates: readonly Candidate[], wanted: number, at: number, drawn: number): number {
  let rest = at;
  let last = -1;
  for (let index = 0; index < candidates.length; index += 1) {
    if (ranks[index] !== wanted || index === drawn) continue;
    last = index;
    rest -= candidates[index]?.weight ?? 0;
    if (rest < 0) break;
  }
  return last;
}
