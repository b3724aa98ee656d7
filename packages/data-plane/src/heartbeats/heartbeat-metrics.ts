import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Counter, Registry } from 'prom-client';

export interface HeartbeatMetrics {
  readonly failures: Counter;
}

/** Read at each scrape. */
export interface HeartbeatGauges {
  readonly liveDataPlanes: () => number;
  /** Seconds; undefined until the clock of the NATS server was read. */
  readonly serverTimeOffsetSeconds: () => number | undefined;
  /** Services that did not fit into the last heartbeat. */
  readonly unreportedServices: () => number;
}

export function createHeartbeatMetrics(
  registry: Registry,
  gauges: HeartbeatGauges,
): HeartbeatMetrics {
  const instruments = new Instruments(registry);
  instruments.observeGauge(
    'gateway_live_data_planes',
    'Live data planes, this one included; the last known number while NATS is unreachable',
    gauges.liveDataPlanes,
  );
  instruments.observeGauge(
    'gateway_nats_clock_offset_seconds',
    'How far the clock of the NATS server is ahead of this process; quota windows follow that clock',
    () => gauges.serverTimeOffsetSeconds() ?? NaN,
  );
  instruments.observeGauge(
    'gateway_heartbeat_unreported_services',
    'Services whose health did not fit into the last heartbeat',
    gauges.unreportedServices,
  );
  return {
    failures: instruments.counter(
      'gateway_heartbeat_failures_total',
      'Heartbeats that could not be published to NATS',
    ),
  };
}
