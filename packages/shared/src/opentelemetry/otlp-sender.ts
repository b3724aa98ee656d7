// The packages of OpenTelemetry are loaded by this module and those that it imports, and by no other. It is imported
// when traces or metrics are exported, and never otherwise.
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { OtlpSettings } from './otlp-variables.ts';
import { jsonResponse, rejectedBy, type Rejected } from './partial-success.ts';
import type { Span } from './span.ts';
import { toMetricData, type Period, type PrometheusMetric } from './to-metric-data.ts';
import { toReadableSpan } from './to-readable-span.ts';

/** Sends telemetry to a receiver, such as a collector, with OTLP over HTTP in protobuf. */
export interface OtlpSender {
  /**
   * Rejects if the receiver did not take them within the timeout, retries included. Returns what it rejected of those
   * that it took.
   */
  readonly sendSpans: (spans: readonly Span[]) => Promise<Rejected | undefined>;
  /** Sends the values of metrics, as `sendSpans` does. */
  readonly sendMetrics: (
    metrics: readonly PrometheusMetric[],
    period: Period,
  ) => Promise<Rejected | undefined>;
}

const SCOPE = { name: 'gateway' };

/** @param attributes of the process, such as `service.name` */
export function createOtlpSender(
  settings: OtlpSettings,
  attributes: Readonly<Record<string, string>>,
): OtlpSender {
  const resource = resourceFromAttributes(attributes);
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  const headers = {
    ...settings.OTEL_EXPORTER_OTLP_HEADERS,
    'Content-Type': 'application/x-protobuf',
  };
  const options = {
    headers: () => Promise.resolve(headers),
    timeoutMillis: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    // Callers send one batch at a time. The delegate still counts a batch while it reports its end.
    concurrencyLimit: 2,
    compression: settings.OTEL_EXPORTER_OTLP_COMPRESSION,
    agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
  };
  const answers = { spans: new Answer('rejectedSpans'), metrics: new Answer('rejectedDataPoints') };
  const traces = createOtlpHttpExportDelegate(
    { ...options, url: settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${base}/v1/traces` },
    answers.spans.readBy(ProtobufTraceSerializer),
    'otlp_http_span_exporter',
    TraceExporterMetricsHelper,
    undefined,
  );
  const metrics = createOtlpHttpExportDelegate(
    { ...options, url: settings.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? `${base}/v1/metrics` },
    answers.metrics.readBy(ProtobufMetricsSerializer),
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  );
  return {
    sendSpans: (spans) =>
      delivered(
        traces,
        answers.spans,
        spans.map((span) => toReadableSpan(span, resource, SCOPE)),
      ),
    sendMetrics: (families, period) => {
      const data = families.flatMap((family) => toMetricData(family, period));
      return delivered(metrics, answers.metrics, {
        resource,
        scopeMetrics: [{ scope: SCOPE, metrics: data }],
      });
    },
  };
}

interface Delegate<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

interface Serializer<T> {
  serializeRequest(items: T): Uint8Array | undefined;
  deserializeResponse(body: Uint8Array): object;
}

/** Reads the responses of one signal: the delegate calls back without them. */
class Answer {
  readonly #countName: string;
  #rejected: Rejected | undefined;

  constructor(countName: string) {
    this.#countName = countName;
  }

  readBy<T, S extends Serializer<T>>(serializer: S): S {
    return {
      ...serializer,
      deserializeResponse: (body: Uint8Array) => {
        const response = jsonResponse(body) ?? serializer.deserializeResponse(body);
        this.#rejected = rejectedBy(response, this.#countName);
        return response;
      },
    };
  }

  /** What the last response rejected. The delegate reads a response right before it calls back. */
  take(): Rejected | undefined {
    const rejected = this.#rejected;
    this.#rejected = undefined;
    return rejected;
  }
}

function delivered<T>(
  delegate: Delegate<T>,
  answer: Answer,
  items: T,
): Promise<Rejected | undefined> {
  return new Promise((resolve, reject) => {
    delegate.export(items, ({ code, error }) => {
      const rejected = answer.take();
      if (code === 0) resolve(rejected);
      else reject(error ?? new Error('the receiver refused it'));
    });
  });
}
