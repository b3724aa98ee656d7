import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface IngestMetrics {
  readonly batchRecords: Histogram;
  /** One insert and its commit, seconds. */
  readonly duration: Histogram;
  readonly records: Counter;
  /** Records of batches that were delivered twice. */
  readonly duplicates: Counter;
  readonly redelivered: Counter;
  /** Malformed messages, malformed records, and rows that Postgres rejects. */
  readonly poison: Counter;
  /** Failed inserts; their messages are delivered again. */
  readonly failures: Counter;
  /** Batches that are missing between others of their data-plane process. */
  readonly missing: Gauge;
}

/** Creates the metrics of the ingest. */
export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const counter = (name: string, help: string) =>
    new Counter({ name: `gateway_control_plane_ingest_${name}_total`, help, registers });
  return {
    batchRecords: new Histogram({
      name: 'gateway_control_plane_ingest_batch_records',
      help: 'Records of one insert',
      buckets: [1, 10, 50, 100, 250, 500, 1000, 2000, 4000],
      registers,
    }),
    duration: new Histogram({
      name: 'gateway_control_plane_ingest_duration_seconds',
      help: 'Time of one insert of records with its commit',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    records: counter('records', 'Records stored'),
    duplicates: counter('duplicates', 'Records that were already stored'),
    redelivered: counter('redelivered', 'Messages that were delivered more than once'),
    poison: counter(
      'poison',
      'Messages and records that were malformed or rejected by Postgres, and skipped',
    ),
    failures: counter('failures', 'Failed inserts; each is retried'),
    missing: new Gauge({
      name: 'gateway_control_plane_ingest_missing_batches',
      help: 'Batches of request records that are missing between others of the same data-plane process of the last day: lost, or still in a spool',
      registers,
    }),
  };
}
