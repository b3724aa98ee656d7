import { Counter, Gauge, type Registry } from 'prom-client';

export interface FleetMetrics {
  readonly refused: Counter;
}

/** @param liveDataPlanes asked at each scrape. */
export function createFleetMetrics(registry: Registry, liveDataPlanes: () => number): FleetMetrics {
  const registers = [registry];
  new Gauge({
    name: 'gateway_control_plane_live_data_planes',
    help: 'Data planes whose heartbeats are heard',
    registers,
    collect() {
      this.set(liveDataPlanes());
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
