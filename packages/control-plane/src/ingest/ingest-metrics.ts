import { Counter, Histogram, type Registry } from 'prom-client';

export interface IngestMetrics {
  readonly batchRecords: Histogram;
  /** One insert and its commit, seconds. */
  readonly duration: Histogram;
  readonly records: Counter;
  /** Records that were there already: batches delivered twice. */
  readonly duplicates: Counter;
  readonly redelivered: Counter;
  /** Messages that are no batch, entries that are no record, and rows that Postgres refuses. */
  readonly poison: Counter;
  /** Inserts that failed as a whole; their messages are delivered again. */
  readonly failures: Counter;
}

export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({ name: `gateway_control_plane_ingest_${name}_total`, help, registers });
  return {
    batchRecords: new Histogram({
      name: 'gateway_control_plane_ingest_batch_records',
      help: 'Records in one insert.',
      buckets: [1, 10, 50, 100, 250, 500, 1000, 2000, 4000],
      registers,
    }),
    duration: new Histogram({
      name: 'gateway_control_plane_ingest_duration_seconds',
      help: 'How long one insert of records took, its commit included.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    records: counter('records', 'Records stored.'),
    duplicates: counter('duplicates', 'Records that had been stored before.'),
    redelivered: counter('redelivered', 'Messages that were delivered more than once.'),
    poison: counter('poison', 'Messages and records that could not be stored and were given up.'),
    failures: counter('failures', 'Inserts that failed and are tried again.'),
  };
}
