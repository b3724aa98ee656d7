import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Why a change was refused; the label of the metric. */
const REJECTION_REASONS = [
  'pointer_refused',
  'snapshot_refused',
  'delta_refused',
  'apply_failed',
  'not_newer',
  'too_many_environments',
] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

export interface ConfigMetrics {
  readonly version: Gauge<'environment'>;
  readonly rejected: Counter<'reason'>;
  readonly fetchFailures: Counter;
  readonly lastGoodFailures: Counter;
  readonly applySeconds: Histogram;
  readonly deltas: Counter;
  readonly gaps: Counter;
  readonly deltaLoopSeconds: Histogram;
}

const APPLY_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const LOOP_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1];

/** @param isConnected whether NATS delivers changes now; called at each scrape */
export function createConfigMetrics(registry: Registry, isConnected: () => boolean): ConfigMetrics {
  const instruments = new Instruments(registry);
  instruments.observeGauge(
    'gateway_config_connected',
    '1 while NATS delivers changes of the configuration',
    () => (isConnected() ? 1 : 0),
  );
  return {
    version: instruments.gauge(
      'gateway_config_version',
      'Version of the configuration that is served',
      ['environment'],
    ),
    rejected: instruments.counterBy(
      'gateway_config_refused_total',
      'Changes of the configuration that were refused; the old configuration stays in service',
      'reason',
      REJECTION_REASONS,
    ),
    fetchFailures: instruments.counter(
      'gateway_config_fetch_failures_total',
      'Failed downloads of snapshots from NATS; each is retried',
    ),
    lastGoodFailures: instruments.counter(
      'gateway_config_last_good_failures_total',
      'Failed writes of the last good configuration, from which a restart without NATS serves',
    ),
    applySeconds: instruments.histogram(
      'gateway_config_apply_seconds',
      'Time from the arrival of a change until it is served',
      APPLY_BUCKETS,
    ),
    deltas: instruments.counter(
      'gateway_config_deltas_total',
      'Changes of the configuration that were applied as deltas, without a snapshot',
    ),
    gaps: instruments.counter(
      'gateway_config_gaps_total',
      'Snapshots requested because the deltas that arrived do not follow the served version',
    ),
    deltaLoopSeconds: instruments.histogram(
      'gateway_config_delta_loop_seconds',
      'Time that applying one delta holds the event loop',
      LOOP_BUCKETS,
    ),
  };
}
