import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Why a change was not taken; the label of the metric. */
export type RefusalReason =
  | 'pointer_refused'
  | 'snapshot_refused'
  | 'delta_refused'
  | 'apply_failed'
  | 'not_newer'
  | 'too_many_environments';

export interface ConfigMetrics {
  readonly version: Gauge<'environment'>;
  readonly refused: Counter<'reason'>;
  readonly fetchFailures: Counter;
  readonly lastGoodFailures: Counter;
  readonly applySeconds: Histogram;
  readonly deltas: Counter;
  readonly gaps: Counter;
  readonly deltaLoopSeconds: Histogram;
}

/** @param isConnected whether changes are being delivered, asked at each scrape. */
export function createConfigMetrics(registry: Registry, isConnected: () => boolean): ConfigMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_config_connected',
    help: '1 while changes of the configuration are being delivered from NATS',
    registers,
    collect() {
      this.set(isConnected() ? 1 : 0);
    },
  });
  return {
    version: new Gauge({
      name: 'gateway_config_version',
      help: 'Version of the configuration that is served',
      labelNames: ['environment'],
      registers,
    }),
    refused: new Counter({
      name: 'gateway_config_refused_total',
      help: 'Changes of the configuration that were not taken; the old one served on',
      labelNames: ['reason'],
      registers,
    }),
    fetchFailures: new Counter({
      name: 'gateway_config_fetch_failures_total',
      help: 'Snapshots that could not be had from NATS at once; each was tried again',
      registers,
    }),
    lastGoodFailures: new Counter({
      name: 'gateway_config_last_good_failures_total',
      help: 'Failed writes of the file from which a restart without NATS serves',
      registers,
    }),
    applySeconds: new Histogram({
      name: 'gateway_config_apply_seconds',
      help: 'From the news of a change to its being served',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    deltas: new Counter({
      name: 'gateway_config_deltas_total',
      help: 'Changes of the configuration that were served without loading all of it',
      registers,
    }),
    gaps: new Counter({
      name: 'gateway_config_gaps_total',
      help: 'Snapshots that were asked for, as the changes that came did not lead on from what is served',
      registers,
    }),
    deltaLoopSeconds: new Histogram({
      name: 'gateway_config_delta_loop_seconds',
      help: 'How long putting one change into service held the event loop',
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1],
      registers,
    }),
  };
}
