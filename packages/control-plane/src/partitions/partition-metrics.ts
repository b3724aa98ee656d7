import { Counter, Gauge, type Registry } from 'prom-client';

export interface PartitionMetrics {
  /** Of this and the coming periods; above zero for longer than moments where they cannot be made. */
  readonly missing: Gauge<'table'>;
  /** Partitions of which rows came before they were there. */
  readonly late: Counter<'table'>;
}

export function createPartitionMetrics(registry: Registry): PartitionMetrics {
  const registers = [registry];
  const labelNames = ['table'] as const;
  return {
    missing: new Gauge({
      name: 'gateway_control_plane_missing_partitions',
      help: 'Partitions of this and the coming periods that are not there; rows go into DEFAULT then',
      labelNames,
      registers,
    }),
    late: new Counter({
      name: 'gateway_control_plane_late_partitions_total',
      help: 'Partitions that were missing when rows of theirs came, which DEFAULT took',
      labelNames,
      registers,
    }),
  };
}
