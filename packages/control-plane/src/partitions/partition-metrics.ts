import { Counter, Gauge, type Registry } from 'prom-client';

export interface PartitionMetrics {
  /** Above zero for long: partitions cannot be created. */
  readonly missing: Gauge<'table'>;
  /** Partitions that were created after rows of theirs had arrived. */
  readonly late: Counter<'table'>;
}

/** Creates the metrics of partitions. */
export function createPartitionMetrics(registry: Registry): PartitionMetrics {
  const registers = [registry];
  const labelNames = ['table'] as const;
  return {
    missing: new Gauge({
      name: 'gateway_control_plane_missing_partitions',
      help: 'Partitions that are missing; their rows go to the DEFAULT partition',
      labelNames,
      registers,
    }),
    late: new Counter({
      name: 'gateway_control_plane_late_partitions_total',
      help: 'Partitions that were missing when their rows arrived; the rows were moved from DEFAULT',
      labelNames,
      registers,
    }),
  };
}
