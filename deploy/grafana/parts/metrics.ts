import { documentedMetrics, type DocumentedMetric } from '../../prometheus/documented-metrics.ts';

/** Of Prometheus, and of a group of workers. Every series may have them. */
const LABELS_OF_ALL = ['instance', 'worker', 'job'];
/** What the dashboards use of prom-client, which docs/run/metrics.md does not list. */
const OF_PROM_CLIENT: Readonly<Record<string, DocumentedMetric>> = {
  process_cpu_seconds_total: { type: 'counter', labels: [] },
  process_resident_memory_bytes: { type: 'gauge', labels: [] },
  process_open_fds: { type: 'gauge', labels: [] },
  process_max_fds: { type: 'gauge', labels: [] },
  process_start_time_seconds: { type: 'gauge', labels: [] },
  nodejs_heap_size_used_bytes: { type: 'gauge', labels: [] },
  nodejs_gc_duration_seconds: { type: 'histogram', labels: ['kind'] },
};
/** Of the blackbox exporter, see docs/run/alerts.md. */
const OF_PROBES: Readonly<Record<string, DocumentedMetric>> = {
  probe_success: { type: 'gauge', labels: [] },
};

const METRICS = new Map([
  ...documentedMetrics(),
  ...Object.entries({ ...OF_PROM_CLIENT, ...OF_PROBES }),
]);

/** @throws Error if the metric does not exist or has not all of these labels */
export function definitionOf(metric: string, labels: readonly string[]): DocumentedMetric {
  const definition = METRICS.get(metric);
  if (definition === undefined) throw new Error(`${metric} is not in docs/run/metrics.md`);
  const unknown = labels.find((label) => !hasLabel(definition, label));
  if (unknown !== undefined) throw new Error(`${metric} has no label ${unknown}`);
  return definition;
}

export function hasLabel({ labels }: DocumentedMetric, label: string): boolean {
  return LABELS_OF_ALL.includes(label) || labels.includes(label);
}
