/** What a store of quotas has done since it began. */
export interface QuotaCounts {
  takes: number;
  /** Takes that waited for a lease, and for the window to begin. */
  leaseWaits: number;
  windowWaits: number;
  /** Takes that the share rule answered. */
  shared: number;
  /** Rounds with the ledger that were answered, and what they leased. */
  refills: number;
  leased: number;
  failedRefills: number;
  /** Writes before which another data plane's came. */
  conflicts: number;
  /** Writes without an answer of rounds that went on; what one of them leased may be granted to nobody. */
  unanswered: number;
}

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
  };
}
