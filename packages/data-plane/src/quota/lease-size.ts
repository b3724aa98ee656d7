/** What decides how much one data plane takes of a window at once. All are numbers of requests. */
export interface LeaseDemand {
  /** What nobody was granted yet. */
  readonly left: number;
  readonly limit: number;
  /** Live data planes, this one included. */
  readonly nodes: number;
  /** Requests that wait for this lease. */
  readonly waiting: number;
  /** Requests that are expected to come before the next refill, from the recent rate. */
  readonly expected: number;
}

/** Ahead of need a lease takes no more than this part of what is left, divided among the data planes. */
const FAIR_PART = 1 / 2;
/** What a data plane may hold without having shown a need: a hundredth of the limit over all of them. */
const IDLE_PART = 1 / 100;
/** With less than this left for each, nothing is taken ahead of need. */
const MIN_FAIR_AHEAD = 4;

/**
 * How many requests the next lease is for: those that wait, as theirs is used at once, and what is needed for
 * a while, but that large only while plenty is left, so that no data plane runs dry while another holds
 * what it does not use. 0 where nothing is left, or where nobody waits and little is left.
 */
export function leaseSize({ left, limit, nodes, waiting, expected }: LeaseDemand): number {
  const now = Math.max(0, Math.min(waiting, left));
  const fair = ((left - now) * FAIR_PART) / nodes;
  if (fair < MIN_FAIR_AHEAD) return now;
  const ahead = Math.max(1, expected, (limit * IDLE_PART) / nodes);
  return now + Math.floor(Math.min(ahead, fair));
}

/** What decides how much a data plane may still grant by itself while the store is away. */
export interface ShareState {
  readonly limit: number;
  /** Live data planes as last known, this one included. */
  readonly nodes: number;
  /** What this data plane took in the window, from leases and by itself. */
  readonly used: number;
  /** What all were granted in the window, as far as the store has told. */
  readonly granted: number;
  /** What this data plane took by itself and the store does not know of. */
  readonly debt: number;
}

/**
 * What is left of this data plane's share of the window. It is the same part for each, so all together
 * stay within the limit without a word between them. What is known to be granted already is no longer
 * there to be shared.
 *
 *
 */
export function shareLeft({ limit, nodes, used, granted, debt }: ShareState): number {
  const ofLimit = Math.floor(limit / nodes) - used;
  const ofRest = Math.floor(Math.max(0, limit - granted) / nodes) - debt;
  return Math.max(0, Math.min(ofLimit, ofRest));
}
