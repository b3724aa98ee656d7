/** The inputs for the size of a lease. All are numbers of requests, except `nodes`. */
export interface LeaseDemand {
  /** Neither granted nor reserved for another data plane. */
  readonly left: number;
  /** The part of that which is reserved for this data plane. */
  readonly reserve: number;
  readonly limit: number;
  /** Live data planes, this one included. */
  readonly nodes: number;
  /** Requests that wait for this lease. */
  readonly waiting: number;
  /** Requests that are expected before the next refill, from the recent rate. */
  readonly expected: number;
}

/** Leases ahead of need take at most this part of what is left, divided among the data planes. */
const FAIR_PART = 1 / 2;
/** The leases of data planes without traffic are at most this part of the limit, all of them together. */
const IDLE_PART = 1 / 100;
/** If less than this is left for each data plane, nothing is leased ahead of need. */
const MIN_FAIR_AHEAD = 4;

/**
 * The number of requests in the next lease: those that wait, whose part is used at once, and those that are expected.
 * The second part comes from the reserve of this data plane; what exceeds it shrinks with what is left, so that no data
 * plane runs out while another has an unused lease. 0 if nothing is left, or if no request waits and little is left.
 */
export function leaseSize(demand: LeaseDemand): number {
  const { left, reserve, limit, nodes, waiting, expected } = demand;
  const now = Math.max(0, Math.min(waiting, left));
  const ahead = Math.floor(Math.max(1, expected, (limit * IDLE_PART) / nodes));
  const own = Math.min(ahead, Math.max(0, Math.min(reserve, left) - now));
  const fair = ((left - now - own) * FAIR_PART) / nodes;
  if (fair < MIN_FAIR_AHEAD) return now + own;
  return now + own + Math.floor(Math.min(ahead - own, fair));
}
