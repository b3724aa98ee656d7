import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 120];

export interface PublishMetrics {
  /** From the lock to the end, seconds; a snapshot of what the log has made already is `repeated`. */
  readonly duration: Histogram<'form'>;
  /** From the oldest change of a publication to its end, seconds. */
  readonly lag: Histogram;
  readonly failures: Counter;
  readonly lastVersion: Gauge<'environment'>;
  /** Changes that wait to be published, as last counted. */
  readonly pending: Gauge;
}

export function createPublishMetrics(registry: Registry): PublishMetrics {
  const registers = [registry];
  return {
    duration: new Histogram({
      name: 'gateway_control_plane_publish_duration_seconds',
      help: 'How long it took to compile and publish, by form: a delta, a snapshot, or one that repeats deltas.',
      labelNames: ['form'],
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    lag: new Histogram({
      name: 'gateway_control_plane_publish_lag_seconds',
      help: 'From the oldest change in a publication to its being published.',
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    failures: new Counter({
      name: 'gateway_control_plane_publish_failures_total',
      help: 'Attempts to publish, or to make a snapshot, that failed; each is retried.',
      registers,
    }),
    lastVersion: new Gauge({
      name: 'gateway_control_plane_published_version',
      help: 'The newest version that this process published.',
      labelNames: ['environment'],
      registers,
    }),
    pending: new Gauge({
      name: 'gateway_control_plane_outbox_pending',
      help: 'Changes that nothing published holds yet.',
      registers,
    }),
  };
}
