import { Counter, Gauge, type Registry } from 'prom-client';

export interface FleetMetrics {
  /** Heartbeats that were ignored. */
  readonly refused: Counter;
}

/** Both are read at each scrape. */
export interface FleetGauges {
  readonly liveDataPlanes: () => number;
  /** Data planes that cannot decrypt some upstream credential. */
  readonly withUnusableCredentials: () => number;
}

/** Creates the metrics of the data planes. */
export function createFleetMetrics(registry: Registry, gauges: FleetGauges): FleetMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_control_plane_live_data_planes',
    help: 'Data planes that have not missed three heartbeats',
    registers,
    collect() {
      this.set(gauges.liveDataPlanes());
    },
  });
  new Gauge({
    name: 'gateway_control_plane_data_planes_with_unusable_credentials',
    help: 'Live data planes that cannot decrypt the credential of some service and refuse its requests',
    registers,
    collect() {
      this.set(gauges.withUnusableCredentials());
    },
  });
  return {
    refused: new Counter({
      name: 'gateway_control_plane_heartbeats_refused_total',
      help: 'Heartbeats that were malformed, or came from more data planes than can be tracked',
      registers,
    }),
  };
}
