/** The type of a metric of Prometheus, as prom-client names it. */
export type PrometheusType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** Units that names of Prometheus end with, and what OpenTelemetry calls them (UCUM). */
const UNITS: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By' };

/**
 * The name and the unit in OpenTelemetry, which has the unit and `_total` not in names. A receiver that makes a metric
 * of Prometheus of it adds both again, so that queries and alerts stay the same.
 */
export function metricName(
  prometheusName: string,
  type: PrometheusType,
): { readonly name: string; readonly unit: string } {
  // A gauge may be named `_total`, as some of prom-client are.
  const base = type === 'counter' ? prometheusName.replace(/_total$/, '') : prometheusName;
  const at = base.lastIndexOf('_');
  const unit = UNITS[base.slice(at + 1)];
  return unit === undefined ? { name: base, unit: '' } : { name: base.slice(0, at), unit };
}
