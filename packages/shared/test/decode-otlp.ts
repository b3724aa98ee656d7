/**
 * Decodes what a collector receives by the numbers of the fields in the definitions of OTLP (opentelemetry-proto, version
 * 1), so that it is not read by the code that encoded it.
 */
import {
  asDouble,
  asInteger,
  fixedOf,
  integerOf,
  messagesOf,
  readFields,
  textOf,
  type Fields,
} from './protobuf-fields.ts';

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

/** The spans of an `ExportTraceServiceRequest`. */
export function decodeSpans(body: Buffer): ReceivedSpan[] {
  return itemsOf(body).map(({ item: span, resource }) => ({
    name: textOf(span, 5),
    kind: integerOf(span, 6),
    traceId: textOf(span, 1, 'hex'),
    spanId: textOf(span, 2, 'hex'),
    parentSpanId: textOf(span, 4, 'hex'),
    startMs: (fixedOf(span, 7, asInteger)[0] ?? 0) / 1e6,
    endMs: (fixedOf(span, 8, asInteger)[0] ?? 0) / 1e6,
    status: messagesOf(span, 15).map((status) => integerOf(status, 3))[0] ?? 0,
    attributes: valuesOf(messagesOf(span, 9)),
    resource,
  }));
}

const KINDS = { gauge: 5, sum: 7, histogram: 9 } as const;

/** The metrics of an `ExportMetricsServiceRequest`. */
export function decodeMetrics(body: Buffer): ReceivedMetric[] {
  return itemsOf(body).map(({ item: metric, resource }) => {
    const kind = (['sum', 'gauge', 'histogram'] as const).find((one) => metric.has(KINDS[one]));
    const data = kind === undefined ? [] : messagesOf(metric, KINDS[kind]);
    const points = data.flatMap((one) => messagesOf(one, 1));
    return {
      name: textOf(metric, 1),
      unit: textOf(metric, 3),
      description: textOf(metric, 2),
      kind,
      points: points.map(kind === 'histogram' ? histogramPointOf : numberPointOf),
      resource,
    };
  });
}

/** Spans or metrics: the request, the resources and their scopes have the same numbers for both. */
function itemsOf(body: Buffer): { readonly item: Fields; readonly resource: Values }[] {
  return messagesOf(readFields(body), 1).flatMap((ofResource) => {
    const [resource = new Map() as Fields] = messagesOf(ofResource, 1);
    const values = valuesOf(messagesOf(resource, 1));
    const items = messagesOf(ofResource, 2).flatMap((scope) => messagesOf(scope, 2));
    return items.map((item) => ({ item, resource: values }));
  });
}

function numberPointOf(point: Fields): ReceivedPoint {
  const [value] = [...fixedOf(point, 4, asDouble), ...fixedOf(point, 6, asInteger)];
  return {
    attributes: valuesOf(messagesOf(point, 7)),
    ...(value !== undefined && { value }),
  };
}

function histogramPointOf(point: Fields): ReceivedPoint {
  const [sum] = fixedOf(point, 5, asDouble);
  return {
    attributes: valuesOf(messagesOf(point, 9)),
    count: fixedOf(point, 4, asInteger)[0] ?? 0,
    ...(sum !== undefined && { sum }),
    bounds: fixedOf(point, 7, asDouble),
    counts: fixedOf(point, 6, asInteger),
  };
}

/** Texts, booleans and numbers; of other values `undefined`. */
function valuesOf(entries: readonly Fields[]): Values {
  return Object.fromEntries(
    entries.map((entry) => {
      const [value = new Map() as Fields] = messagesOf(entry, 2);
      return [textOf(entry, 1), valueOf(value)];
    }),
  );
}

function valueOf(value: Fields): unknown {
  if (value.has(1)) return textOf(value, 1);
  if (value.has(2)) return integerOf(value, 2) === 1;
  if (value.has(3)) return integerOf(value, 3);
  return fixedOf(value, 4, asDouble)[0];
}
