import type { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { metricName, type PrometheusType } from './metric-name.ts';
import { toHrTime } from './to-readable-span.ts';

/** A metric with its values, as a registry of prom-client gives it. */
export interface PrometheusMetric {
  readonly name: string;
  readonly help: string;
  readonly type: PrometheusType;
  readonly values: readonly PrometheusValue[];
}

interface PrometheusValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  /** Of a histogram: the series, with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string | undefined;
}

/** The time that the values are of, ms since the Unix epoch. */
export interface Period {
  /** When the process started to count. */
  readonly startMs: number;
  readonly endMs: number;
}

type Serializer = Pick<typeof ProtobufMetricsSerializer, 'serializeRequest'>;
type MetricData = Parameters<
  Serializer['serializeRequest']
>[0]['scopeMetrics'][number]['metrics'][number];

/** Values of enums of OpenTelemetry. */
const DOUBLE = 1;
const CUMULATIVE = 1;
const HISTOGRAM = 0;
const GAUGE = 2;
const SUM = 3;

/** One metric of OpenTelemetry; none if it has no values. There are no summaries. */
export function toMetricData(metric: PrometheusMetric, period: Period): MetricData[] {
  const { help, type, values } = metric;
  if (values.length === 0 || type === 'summary') return [];
  const { name, unit } = metricName(metric.name, type);
  const shared = {
    descriptor: { name, unit, description: help, valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
  };
  const time = { startTime: toHrTime(period.startMs), endTime: toHrTime(period.endMs) };
  const dataPoints =
    type === 'histogram'
      ? histograms(metric).map(({ labels, ...value }) => ({ ...time, attributes: labels, value }))
      : values.map(({ value, labels }) => ({ ...time, attributes: labels, value }));
  const kinds = {
    counter: { dataPointType: SUM, isMonotonic: true },
    gauge: { dataPointType: GAUGE },
    histogram: { dataPointType: HISTOGRAM },
  };
  // The enums of OpenTelemetry are not exported by the packages that are used, so the type cannot be checked.
  return [{ ...shared, ...kinds[type], dataPoints } as unknown as MetricData];
}

interface HistogramValue {
  readonly labels: PrometheusValue['labels'];
  readonly buckets: { readonly boundaries: number[]; readonly counts: number[] };
  sum: number;
  count: number;
}

/** Puts the series of each histogram together again. Its buckets are cumulative in Prometheus, in ascending order. */
function histograms({ name, values }: PrometheusMetric): HistogramValue[] {
  const found = new Map<string, HistogramValue & { below: number }>();
  for (const { value, labels: all, metricName: series = '' } of values) {
    const { le, ...labels } = all;
    const key = JSON.stringify(labels);
    const one = found.get(key) ?? {
      labels,
      buckets: { boundaries: [], counts: [] },
      sum: 0,
      count: 0,
      below: 0,
    };
    found.set(key, one);
    if (series === `${name}_sum`) one.sum = value;
    else if (series === `${name}_count`) one.count = value;
    else {
      one.buckets.counts.push(value - one.below);
      one.below = value;
      if (le !== '+Inf') one.buckets.boundaries.push(Number(le));
    }
  }
  return [...found.values()].map(({ labels, buckets, sum, count }) => ({
    labels,
    buckets,
    sum,
    count,
  }));
}
