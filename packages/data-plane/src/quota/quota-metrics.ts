import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Histogram, Registry } from 'prom-client';

/** Counts of a quota store since its start, for the metrics. */
export interface QuotaCounts {
  takes: number;
  /** Takes that waited for a lease, or for the start of the window. */
  leaseWaits: number;
  windowWaits: number;
  /** Takes that the reserve decided, because there was no lease. */
  reserveTakes: number;
  /** Rounds with the ledger that succeeded. */
  refills: number;
  /** Requests that these rounds leased. */
  leased: number;
  failedRefills: number;
  /** Writes that lost to another data plane. */
  conflicts: number;
  /** Writes that were not answered in time. What such a write leased may expire unused. */
  unanswered: number;
  /** Times that the other data planes were asked to release what they do not need. */
  recalls: number;
  /** The same, where it was not done because too many were under way. */
  recallsSkipped: number;
  /** The same, where some did not answer in time. Their reserves may expire unused. */
  recallsUnanswered: number;
}

/** Counts that are all 0. */
export function emptyQuotaCounts(): QuotaCounts {
  return {
    takes: 0,
    leaseWaits: 0,
    windowWaits: 0,
    reserveTakes: 0,
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

interface CountingStore {
  readonly counts: QuotaCounts;
  /** Whether leases are available. */
  readonly leasing: boolean;
  /** The share of this data plane in new windows, from 0 to 1. */
  readonly share: number;
  /** The number of counters. */
  readonly size: number;
}

const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];

/** The time that requests waited for a lease, in seconds. Only requests that wait are observed. */
export function createLeaseWaits(registry: Registry): Histogram {
  return new Instruments(registry).histogram(
    'gateway_quota_lease_wait_seconds',
    'Time that requests waited for a lease from NATS',
    WAIT_BUCKETS,
  );
}

/** Registers the quota metrics. They read the counts of the store at each scrape, so that a request only changes numbers. */
export function registerQuotaMetrics(registry: Registry, store: CountingStore): void {
  const { counts } = store;
  const instruments = new Instruments(registry);
  instruments.observeCounter(
    'gateway_quota_takes_total',
    'Requests that were counted against a quota',
    () => counts.takes,
  );
  instruments.observeCounters(
    'gateway_quota_waits_total',
    'Requests that waited for a lease from NATS, or for the start of a window',
    ['for'],
    () => [
      [{ for: 'lease' }, counts.leaseWaits],
      [{ for: 'window' }, counts.windowWaits],
    ],
  );
  instruments.observeCounter(
    'gateway_quota_share_takes_total',
    'Requests that were decided by the reserve of this data plane, because NATS gave no lease',
    () => counts.reserveTakes,
  );
  instruments.observeCounter(
    'gateway_quota_leased_total',
    'Requests that were leased from NATS',
    () => counts.leased,
  );
  instruments.observeCounters(
    'gateway_quota_refills_total',
    'Refills of leases from NATS, by result',
    ['result'],
    () => [
      [{ result: 'answered' }, counts.refills],
      [{ result: 'failed' }, counts.failedRefills],
    ],
  );
  instruments.observeCounter(
    'gateway_quota_conflicts_total',
    'Lease writes that lost to another data plane; each is retried',
    () => counts.conflicts,
  );
  instruments.observeCounter(
    'gateway_quota_unanswered_total',
    'Lease writes that NATS did not answer in time; what such a write leased may stay unused',
    () => counts.unanswered,
  );
  instruments.observeCounters(
    'gateway_quota_recalls_total',
    'Requests to the other data planes for what they do not need of a window; skipped if too many were under way, unanswered if some did not answer in time',
    ['result'],
    () => [
      [{ result: 'sent' }, counts.recalls],
      [{ result: 'skipped' }, counts.recallsSkipped],
      [{ result: 'unanswered' }, counts.recallsUnanswered],
    ],
  );
  instruments.observeGauge('gateway_quota_leasing', '1 while NATS grants leases', () =>
    store.leasing ? 1 : 0,
  );
  instruments.observeGauge(
    'gateway_quota_share',
    'The share of each limit that is reserved for this data plane, from 0 to 1; it grants that while NATS is down',
    () => store.share,
  );
  instruments.observeGauge(
    'gateway_quota_counters',
    'Quota counters in memory, one for each policy and subject',
    () => store.size,
  );
}
