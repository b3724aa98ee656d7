import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 120];

export interface PublishMetrics {
  /** Seconds; the form `repeated` is a snapshot that repeats deltas. */
  readonly duration: Histogram<'form'>;
  /** Seconds from the oldest change of a publication to its end. */
  readonly lag: Histogram;
  readonly failures: Counter;
  readonly lastVersion: Gauge<'environment'>;
  /** Unpublished changes at the last tick. */
  readonly pending: Gauge;
}

/** Creates the metrics of the publisher. */
export function createPublishMetrics(registry: Registry): PublishMetrics {
  const registers = [registry];
  return {
    duration: new Histogram({
      name: 'gateway_control_plane_publish_duration_seconds',
      help: 'Time to compile and publish, by form: a delta, a snapshot, or a snapshot that repeats deltas',
      labelNames: ['form'],
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    lag: new Histogram({
      name: 'gateway_control_plane_publish_lag_seconds',
      help: 'Time from the oldest change of a publication until it was published',
      buckets: BUCKETS_SECONDS,
      registers,
    }),
    failures: new Counter({
      name: 'gateway_control_plane_publish_failures_total',
      help: 'Failed attempts to publish or to store a snapshot; each is retried',
      registers,
    }),
    lastVersion: new Gauge({
      name: 'gateway_control_plane_published_version',
      help: 'The newest version that this process published',
      labelNames: ['environment'],
      registers,
    }),
    pending: new Gauge({
      name: 'gateway_control_plane_outbox_pending',
      help: 'Changes that are not published yet',
      registers,
    }),
  };
}
