import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Why records were given up; the label of the metric. */
export type DropReason = 'memory_full' | 'spool_full' | 'spool_failed' | 'too_large' | 'closed';

export interface RecordMetrics {
  readonly sent: Counter;
  readonly sentAgain: Counter;
  readonly dropped: Counter<'reason'>;
  readonly publishFailures: Counter;
  readonly publishSeconds: Histogram;
}

export interface RecordGauges {
  /** In memory, without an acknowledgement. */
  readonly pendingRecords: () => number;
  readonly spooledBytes: () => number;
}

export function createRecordMetrics(registry: Registry, gauges: RecordGauges): RecordMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_records_pending',
    help: 'Request records in memory that NATS has not acknowledged',
    registers,
    collect() {
      this.set(gauges.pendingRecords());
    },
  });
  new Gauge({
    name: 'gateway_records_spooled_bytes',
    help: 'Request records on disk, waiting to be sent',
    registers,
    collect() {
      this.set(gauges.spooledBytes());
    },
  });
  return {
    sent: new Counter({
      name: 'gateway_records_sent_total',
      help: 'Request records that NATS has acknowledged',
      registers,
    }),
    sentAgain: new Counter({
      name: 'gateway_records_sent_again_total',
      help: 'Request records that were sent once more, as NATS may have lost them while it was away',
      registers,
    }),
    dropped: new Counter({
      name: 'gateway_records_dropped_total',
      help: 'Request records that were given up and are in no store',
      labelNames: ['reason'],
      registers,
    }),
    publishFailures: new Counter({
      name: 'gateway_record_publish_failures_total',
      help: 'Batches of request records that NATS did not acknowledge; each was tried again',
      registers,
    }),
    publishSeconds: new Histogram({
      name: 'gateway_record_publish_seconds',
      help: 'From the sending of a batch of request records to its acknowledgement',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
  };
}
