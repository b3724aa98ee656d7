import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { Instruments } from '../telemetry/instruments.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ProcessIdentity } from '../telemetry/process-identity.ts';
import { GATEWAY_VERSION } from '../version.ts';
import { MetricExport } from './metric-export.ts';
import type { OtlpSender } from './otlp-sender.ts';
import type { OtlpSettings } from './otlp-variables.ts';
import { createSampler, type Sampler } from './sampler.ts';
import { SpanQueue } from './span-queue.ts';
import type { Span } from './span.ts';
import type { PrometheusMetric } from './to-metric-data.ts';

/** What a process exports over OTLP. */
export interface OpenTelemetry {
  /** undefined: no request is ever sampled. */
  readonly tracing: Tracing | undefined;
  /** Exports what waits, for at most this time. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** Tracing of a process whose sampler may sample something. */
export interface Tracing {
  readonly sample: Sampler;
  /** Takes the finished spans of one sampled request. */
  readonly add: (spans: readonly Span[]) => void;
}

export interface OpenTelemetryOptions {
  readonly settings: OtlpSettings;
  /** `OTEL_SERVICE_NAME` replaces its service. */
  readonly identity: ProcessIdentity;
  readonly clock: Clock;
  readonly log: Logger;
  /** Its metrics are exported. */
  readonly registry: Registry;
}

/** Opens the exports that the settings ask for. If they ask for none, no package of OpenTelemetry is loaded. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<OpenTelemetry> {
  const { settings, identity } = options;
  const sample = createSampler(settings);
  const exportsMetrics = settings.OTEL_METRICS_EXPORTER === 'otlp';
  if (sample === undefined && !exportsMetrics) {
    return { tracing: undefined, close: () => Promise.resolve() };
  }
  const { createOtlpSender } = await import('./otlp-sender.ts');
  const sender = createOtlpSender(settings, resourceAttributes(settings, identity));
  const spans = sample === undefined ? undefined : openSpanQueue(sender, options);
  const metrics = exportsMetrics ? openMetricExport(sender, options) : undefined;
  return {
    tracing: sample === undefined ? undefined : { sample, add: (finished) => spans?.add(finished) },
    async close(timeoutMs) {
      await Promise.all([spans?.close(timeoutMs), metrics?.close(timeoutMs)]);
    },
  };
}

function openSpanQueue(
  { sendSpans }: OtlpSender,
  { settings, clock, log, registry }: OpenTelemetryOptions,
): SpanQueue {
  const queue = new SpanQueue({
    send: sendSpans,
    maxSpans: settings.OTEL_BSP_MAX_QUEUE_SIZE,
    maxBatchSpans: settings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    delayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
    clock,
    log,
  });
  const instruments = new Instruments(registry);
  instruments.observeCounter(
    'gateway_spans_exported_total',
    'Spans that the OTLP receiver took',
    () => queue.exported,
  );
  instruments.observeCounters(
    'gateway_spans_dropped_total',
    'Spans that were lost, by reason: the queue was full, the export failed, or the receiver rejected them',
    ['reason'],
    () => [
      [{ reason: 'queue_full' }, queue.dropped],
      [{ reason: 'export_failed' }, queue.failed],
      [{ reason: 'rejected' }, queue.rejected],
    ],
  );
  return queue;
}

function openMetricExport(
  { sendMetrics }: OtlpSender,
  { settings, clock, log, registry }: OpenTelemetryOptions,
): MetricExport {
  const metrics = new MetricExport({
    // The types of prom-client say that the type of a metric is a number; it is its name.
    read: async () => (await registry.getMetricsAsJSON()) as unknown as PrometheusMetric[],
    send: sendMetrics,
    intervalMs: settings.OTEL_METRIC_EXPORT_INTERVAL,
    clock,
    log,
  });
  new Instruments(registry).observeCounters(
    'gateway_metric_exports_total',
    'Exports of all metrics over OTLP, by result; partial: the receiver rejected some values',
    ['result'],
    () => [
      [{ result: 'exported' }, metrics.exported],
      [{ result: 'partial' }, metrics.partial],
      [{ result: 'failed' }, metrics.failed],
    ],
  );
  return metrics;
}

/** What identifies the process. A variable of OpenTelemetry replaces what the process says itself. */
function resourceAttributes(
  settings: OtlpSettings,
  { service, instance }: ProcessIdentity,
): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {
    'service.name': service,
    'service.instance.id': instance,
    'service.version': GATEWAY_VERSION,
    ...settings.OTEL_RESOURCE_ATTRIBUTES,
  };
  if (settings.OTEL_SERVICE_NAME !== undefined)
    attributes['service.name'] = settings.OTEL_SERVICE_NAME;
  return attributes;
}
