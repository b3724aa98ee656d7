/** Counts of a quota store since its start, for the metrics. */
export interface QuotaCounts {
  takes: number;
  /** Takes that waited for a lease, or for the start of the window. */
  leaseWaits: number;
  windowWaits: number;
  /** Takes that the reserve decided, because there was no lease. */
  shared: number;
  /** Rounds with the ledger that succeeded. */
  refills: number;
  /** Requests that these rounds leased. */
  leased: number;
  failedRefills: number;
  /** Writes that lost to another data plane. */
  conflicts: number;
  /** Writes that were not answered in time. What such a write leased may stay unused. */
  unanswered: number;
  /** Times that other data planes were asked for what they do not need. */
  recalls: number;
  /** The same, where it was not done because too many were under way. */
  recallsSkipped: number;
  /** The same, where some did not answer in time. What these keep back may stay unused. */
  recallsUnanswered: number;
}

/** Counts that are all 0. */
export function emptyQuotaCounts(): QuotaCounts {
  return {
    takes: 0,
    leaseWaits: 0,
    windowWaits: 0,
    shared: 0,
    refills: 0,
    leased: 0,
    failedRefills: 0,
    conflicts: 0,
    unanswered: 0,
    recalls: 0,
    recallsSkipped: 0,
    recallsUnanswered: 0,
  };
}
