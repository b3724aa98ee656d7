import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Counter, Histogram, Registry } from 'prom-client';

/** Why records were dropped; the label of the metric. */
const DROP_REASONS = ['memory_full', 'spool_full', 'spool_failed', 'too_large', 'closed'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** The metrics of request records. */
export interface RecordMetrics {
  readonly sent: Counter;
  readonly sentAgain: Counter;
  readonly dropped: Counter<'reason'>;
  readonly publishFailures: Counter;
  readonly publishSeconds: Histogram;
}

/** The values of the gauges, read at each scrape. */
export interface RecordGauges {
  /** Records in memory that NATS has not acknowledged. */
  readonly pendingRecords: () => number;
  readonly spooledBytes: () => number;
}

const PUBLISH_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Registers the metrics of request records. */
export function createRecordMetrics(registry: Registry, gauges: RecordGauges): RecordMetrics {
  const instruments = new Instruments(registry);
  instruments.observeGauge(
    'gateway_records_pending',
    'Request records in memory that NATS has not acknowledged',
    gauges.pendingRecords,
  );
  instruments.observeGauge(
    'gateway_records_spooled_bytes',
    'Size of the request records on disk that wait to be sent',
    gauges.spooledBytes,
  );
  return {
    sent: instruments.counter(
      'gateway_records_sent_total',
      'Request records that NATS has acknowledged',
    ),
    sentAgain: instruments.counter(
      'gateway_records_sent_again_total',
      'Request records that were sent again because NATS may have lost them while it was unreachable',
    ),
    dropped: instruments.counterBy(
      'gateway_records_dropped_total',
      'Request records that were lost, by reason',
      'reason',
      DROP_REASONS,
    ),
    publishFailures: instruments.counter(
      'gateway_record_publish_failures_total',
      'Batches of request records that NATS did not acknowledge; each is retried',
    ),
    publishSeconds: instruments.histogram(
      'gateway_record_publish_seconds',
      'Time from sending a batch of request records to its acknowledgement',
      PUBLISH_BUCKETS,
    ),
  };
}
