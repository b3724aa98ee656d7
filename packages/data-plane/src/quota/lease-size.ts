/** The inputs for the size of a lease. All are numbers of requests, except `nodes`. */
export interface LeaseDemand {
  /** Not granted to any data plane yet. */
  readonly left: number;
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
/** Data planes without traffic may hold this part of the limit, all of them together. */
const IDLE_PART = 1 / 100;
/** If less than this is left for each data plane, nothing is leased ahead of need. */
const MIN_FAIR_AHEAD = 4;

/**
 * The number of requests in the next lease: those that wait, whose part is used at once, and those that are expected. The
 * second part shrinks with what is left, so that no data plane runs out while another holds an unused lease. 0 if nothing
 * is left, or if no request waits and little is left.
 */
export function leaseSize({ left, limit, nodes, waiting, expected }: LeaseDemand): number {
  const now = Math.max(0, Math.min(waiting, left));
  const fair = ((left - now) * FAIR_PART) / nodes;
  if (fair < MIN_FAIR_AHEAD) return now;
  const ahead = Math.max(1, expected, (limit * IDLE_PART) / nodes);
  return now + Math.floor(Math.min(ahead, fair));
}

/** The inputs for the share of a data plane while the store is unreachable. */
export interface ShareState {
  readonly limit: number;
  /** Live data planes as last known, this one included. */
  readonly nodes: number;
  /** Granted by this data plane in the window, from leases and from its share. */
  readonly used: number;
  /** Granted to all data planes in the window, as last read from the store. */
  readonly granted: number;
  /** Granted by this data plane from its share and not stored yet. */
  readonly debt: number;
}

/**
 * The number of requests that this data plane may still grant from its share of the window. The share is the same for
 * each data plane, so all together stay within the limit without communication. What was already granted is not shared
 * again.
 */
export function shareLeft({ limit, nodes, used, granted, debt }: ShareState): number {
  const ofLimit = Math.floor(limit / nodes) - used;
  const ofRest = Math.floor(Math.max(0, limit - granted) / nodes) - debt;
  return Math.max(0, Math.min(ofLimit, ofRest));
}
