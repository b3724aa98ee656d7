import { Counter, Gauge, type Registry } from 'prom-client';

export interface HeartbeatMetrics {
  readonly failures: Counter;
}

export interface HeartbeatGauges {
  readonly liveDataPlanes: () => number;
  /** Seconds; undefined while not known. */
  readonly serverTimeOffsetSeconds: () => number | undefined;
  /** Services that had no room in the last heartbeat. */
  readonly unreportedServices: () => number;
}

export function createHeartbeatMetrics(
  registry: Registry,
  gauges: HeartbeatGauges,
): HeartbeatMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_live_data_planes',
    help: 'Data planes that are heard of, this one included; the last known number while NATS is away',
    registers,
    collect() {
      this.set(gauges.liveDataPlanes());
    },
  });
  new Gauge({
    name: 'gateway_nats_clock_offset_seconds',
    help: 'How far the clock of the NATS server is ahead of this process; windows are cut by it',
    registers,
    collect() {
      this.set(gauges.serverTimeOffsetSeconds() ?? NaN);
    },
  });
  new Gauge({
    name: 'gateway_heartbeat_unreported_services',
    help: 'Services whose health had no room in the last heartbeat',
    registers,
    collect() {
      this.set(gauges.unreportedServices());
    },
  });
  return {
    failures: new Counter({
      name: 'gateway_heartbeat_failures_total',
      help: 'Heartbeats that NATS did not take',
      registers,
    }),
  };
}
