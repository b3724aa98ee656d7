/**
 * Which upstream an attempt goes to: among the best there are, power of two choices: of two drawn at
 * random by weight, the one with fewer requests in flight for it. Nearly as even as asking all of them,
 * without every node running to the same one.
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load
 * Balancing" (2001).
 */

interface Candidate {
  readonly weight: number;
  /** null: as near as any. */
  readonly region: string | null;
}

/** What is known of a candidate's health. */
interface CandidateHealth {
  readonly usable: boolean;
  /** Whether requests have ended it for a while. */
  readonly ejected: boolean;
  /** Whether the last attempt or check got a connection. */
  readonly reachable: boolean;
}

export interface SelectionOptions<T> {
  /** The region of this data plane. */
  readonly region: string;
  readonly load: { inFlight(candidate: T): number };
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
}

/** Ranks, the least first; a region's place is added. No list of regions is as long as their distance. */
const OTHER_REGION = 100;
const TRIED = 1000;
const NOT_USABLE = 2000;
const EJECTED = 3000;
const NOT_USABLE_AGAIN = 4000;
const AWAY = 5000;
const AWAY_AGAIN = 6000;
/** After so many attempts of one request its own region is taken to be in trouble. */
const ATTEMPTS_IN_OWN_REGION = 2;

/**
 * Chooses among the candidates and gives the index of the chosen one, or −1 where there are none.
 *
 * The best are the healthy ones of the own region that this request has not tried; then the healthy
 * ones of the route's regions in their order; then those of any. Where none of these is left: one that
 * was tried and could be reached; then those that fail their checks, the ones that requests ended
 * after them; last those that no connection could be had to. So a service of which nothing is healthy is
 * tried all the same, on all of its upstreams that are there.
 *
 * @param health of the candidates, in their order
 * @param regions the route's order of failover
 * @param tried indices that this request has tried
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
  for (let index = 0; index < candidates.length; index += 1) {
    best = Math.min(best, rank(candidates, health, regions, tried, options.region, index));
  }
  const first = draw(candidates, health, regions, tried, options, best, -1);
  const second = draw(candidates, health, regions, tried, options, best, first);
  const one = candidates[first];
  const other = candidates[second];
  if (one === undefined || other === undefined) return first;
  return isBetter(other, one, options) ? second : first;
}

/**
 * Whether a candidate, with this request, would have no more in flight for its weight than the one drawn
 * before it has without. So the draw, which goes by weight, decides as long as little is in flight: one
 * of little weight gets its share of a small load as well, and no more than that.
 */
function isBetter<T extends Candidate>(candidate: T, drawn: T, { load }: SelectionOptions<T>) {
  const withIt = (load.inFlight(candidate) + 1) / candidate.weight;
  return withIt <= load.inFlight(drawn) / drawn.weight;
}

/** How far a candidate is from the best that could be, as a number: the least is taken. */
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
    return isReachable ? TRIED + distance : AWAY_AGAIN;
  }
  if (!isReachable) return wasTried ? AWAY_AGAIN : AWAY;
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
  const place = regions.indexOf(region);
  return place === -1 ? OTHER_REGION : 1 + place;
}

/** Draws one of this rank by weight, without the one already drawn; −1 where none is left. */
function draw<T extends Candidate>(
  candidates: readonly T[],
  health: readonly CandidateHealth[],
  regions: readonly string[],
  tried: ReadonlySet<number>,
  options: SelectionOptions<T>,
  wanted: number,
  drawn: number,
): number {
  const { region } = options;
  let total = 0;
  for (let index = 0; index < candidates.length; index += 1) {
    if (index === drawn) continue;
    if (rank(candidates, health, regions, tried, region, index) !== wanted) continue;
    total += candidates[index]?.weight ?? 0;
  }
  let rest = options.random() * total;
  let last = -1;
  for (let index = 0; index < candidates.length; index += 1) {
    if (index === drawn) continue;
    if (rank(candidates, health, regions, tried, region, index) !== wanted) continue;
    last = index;
    rest -= candidates[index]?.weight ?? 0;
    if (rest < 0) break;
  }
  return last;
}
