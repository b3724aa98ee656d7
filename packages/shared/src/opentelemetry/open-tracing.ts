import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { Instruments } from '../telemetry/instruments.ts';
import type { Logger } from '../telemetry/logger.ts';
import { GATEWAY_VERSION } from '../version.ts';
import type { OtlpSettings } from './otlp-variables.ts';
import { createSampler, type Sampler } from './sampler.ts';
import { SpanQueue } from './span-queue.ts';
import type { Span } from './span.ts';

/** Tracing of a process whose sampler may sample something. */
export interface Tracing {
  readonly sample: Sampler;
  /** Takes the finished spans of one sampled request. */
  readonly add: (spans: readonly Span[]) => void;
  /** Exports what waits, for at most this time. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

export interface ProcessIdentity {
  /** Default of `OTEL_SERVICE_NAME`. */
  readonly service: string;
  readonly instance: string;
}

export interface TracingOptions {
  readonly settings: OtlpSettings;
  readonly identity: ProcessIdentity;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Opens tracing. undefined: the sampler samples nothing; no package of OpenTelemetry is loaded then. */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { settings, identity, clock, log, registry } = options;
  const sample = createSampler(settings);
  if (sample === undefined) return undefined;
  const { createOtlpSender } = await import('./otlp-sender.ts');
  const sender = createOtlpSender(settings, resourceAttributes(settings, identity));
  const queue = new SpanQueue({
    send: sender.sendSpans,
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
    'Spans that were lost, by reason: the queue was full, or the export failed',
    ['reason'],
    () => [
      [{ reason: 'queue_full' }, queue.dropped],
      [{ reason: 'export_failed' }, queue.failed],
    ],
  );
  return {
    sample,
    add: (spans) => queue.add(spans),
    close: (timeoutMs) => queue.close(timeoutMs),
  };
}

/** What identifies the process. A variable of OpenTelemetry replaces what the process says itself. */
export function resourceAttributes(
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
