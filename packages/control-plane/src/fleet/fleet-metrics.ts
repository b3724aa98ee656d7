import { Counter, Gauge, type Registry } from 'prom-client';

export interface FleetMetrics {
  readonly refused: Counter;
}

/** Both are asked at each scrape. */
export interface FleetGauges {
  readonly liveDataPlanes: () => number;
  /** Data planes that cannot open some credential of an upstream. */
  readonly withUnusableCredentials: () => number;
}

export function createFleetMetrics(registry: Registry, gauges: FleetGauges): FleetMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_control_plane_live_data_planes',
    help: 'Data planes whose heartbeats are heard',
    registers,
    collect() {
      this.set(gauges.liveDataPlanes());
    },
  });
  new Gauge({
    name: 'gateway_control_plane_data_planes_with_unusable_credentials',
    help: 'Live data planes that cannot open the credential of some service and refuse its requests',
    registers,
    collect() {
      this.set(gauges.withUnusableCredentials());
    },
  });
  return {
    refused: new Counter({
      name: 'gateway_control_plane_heartbeats_refused_total',
      help: 'Heartbeats that could not be read, or for which there was no room',
      registers,
    }),
  };
}
