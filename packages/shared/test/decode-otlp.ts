type Values = Readonly<Record<string, unknown>>;

export interface ReceivedSpan {
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span begins its trace. */
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly endMs: number;
  /** 2: error. */
  readonly status: number;
  readonly attributes: Values;
  readonly resource: Values;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly kind: 'sum' | 'gauge' | 'histogram' | undefined;
  readonly points: readonly ReceivedPoint[];
  readonly resource: Values;
}

interface ReceivedPoint {
  readonly attributes: Values;
  readonly value?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
}

/** The part of the generated message types that is used. */
export interface OtlpDefinitions {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Message } };
        readonly metrics: { readonly v1: { readonly ExportMetricsServiceRequest: Message } };
      };
    };
  };
}

interface Message {
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): unknown;
}

interface Entry {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const OPTIONS = { longs: Number, defaults: true, oneofs: true };

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Entry[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

interface RawSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly status: { readonly code: number } | null;
  readonly attributes: readonly Entry[];
}

export function decodeSpans({ opentelemetry }: OtlpDefinitions, body: Uint8Array): ReceivedSpan[] {
  const type = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
  const request = type.toObject(type.decode(body), { ...OPTIONS, enums: Number }) as TraceRequest;
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        name: span.name,
        kind: span.kind,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        startMs: span.startTimeUnixNano / 1e6,
        endMs: span.endTimeUnixNano / 1e6,
        status: span.status?.code ?? 0,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
  );
}

interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Entry[] };
    readonly scopeMetrics: readonly { readonly metrics: readonly RawMetric[] }[];
  }[];
}

interface RawMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly data: 'sum' | 'gauge' | 'histogram' | undefined;
  readonly sum?: { readonly dataPoints: readonly RawPoint[] };
  readonly gauge?: { readonly dataPoints: readonly RawPoint[] };
  readonly histogram?: { readonly dataPoints: readonly RawPoint[] };
}

interface RawPoint {
  readonly attributes: readonly Entry[];
  readonly asDouble?: number;
  readonly asInt?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly explicitBounds?: readonly number[];
  readonly bucketCounts?: readonly number[];
}

export function decodeMetrics(
  { opentelemetry }: OtlpDefinitions,
  body: Uint8Array,
): ReceivedMetric[] {
  const type = opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
  const request = type.toObject(type.decode(body), OPTIONS) as MetricsRequest;
  return request.resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .map((metric) => ({
        name: metric.name,
        unit: metric.unit,
        description: metric.description,
        kind: metric.data,
        points: (metric.data === undefined ? [] : (metric[metric.data]?.dataPoints ?? [])).map(
          pointOf,
        ),
        resource: valuesOf(resource.attributes),
      })),
  );
}

function pointOf(point: RawPoint): ReceivedPoint {
  const value = point.asDouble ?? point.asInt;
  return {
    attributes: valuesOf(point.attributes),
    ...(value !== undefined && { value }),
    ...(point.count !== undefined && { count: point.count }),
    ...(point.sum !== undefined && { sum: point.sum }),
    ...(point.explicitBounds !== undefined && { bounds: point.explicitBounds }),
    ...(point.bucketCounts !== undefined && { counts: point.bucketCounts }),
  };
}

function valuesOf(entries: readonly Entry[]): Values {
  return Object.fromEntries(
    entries.map(({ key, value }) => {
      const kind = value['value'];
      return [key, typeof kind === 'string' ? value[kind] : undefined];
    }),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
