import { recordingRules } from '../../prometheus/alert-rules.ts';
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
/** Of Prometheus and of the blackbox exporter, see docs/run/alerts.md. */
const OF_PROBES: Readonly<Record<string, DocumentedMetric>> = {
  up: { type: 'gauge', labels: [] },
  probe_success: { type: 'gauge', labels: [] },
};
/** The recording rules about routes. */
const RECORDED: readonly [string, DocumentedMetric][] = recordingRules()
  .filter(({ record }) => record.startsWith('gateway:route_'))
  .map(({ record }) => [record, { type: 'gauge', labels: ['environment', 'route'] }]);
/** Names the service of a `service_id`. */
export const SERVICE_INFO = 'gateway_service_info';
/** What a metric with a `service_id` gets from it. */
const OF_SERVICE_INFO = ['environment', 'name'];

const METRICS = new Map([
  ...documentedMetrics(),
  ...Object.entries({ ...OF_PROM_CLIENT, ...OF_PROBES }),
  ...RECORDED,
]);

/** @throws Error if the metric does not exist or has not all of these labels */
export function definitionOf(metric: string, labels: readonly string[]): DocumentedMetric {
  const definition = METRICS.get(metric);
  if (definition === undefined) throw new Error(`${metric} is not in docs/run/metrics.md`);
  const joined = isNamedByInfo(metric, definition) ? OF_SERVICE_INFO : [];
  const unknown = labels.find((label) => !hasLabel(definition, label) && !joined.includes(label));
  if (unknown !== undefined) throw new Error(`${metric} has no label ${unknown}`);
  return definition;
}

export function hasLabel({ labels }: DocumentedMetric, label: string): boolean {
  return LABELS_OF_ALL.includes(label) || labels.includes(label);
}

/** Whether the series have the id of a service, and its name only by a join. */
export function isNamedByInfo(metric: string, { labels }: DocumentedMetric): boolean {
  return metric !== SERVICE_INFO && labels.includes('service_id');
}
