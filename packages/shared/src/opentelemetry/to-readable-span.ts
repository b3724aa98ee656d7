import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Span } from './span.ts';

type Serializer = Pick<typeof ProtobufTraceSerializer, 'serializeRequest'>;
/** A span as the serializer of OpenTelemetry reads it. */
export type ReadableSpan = Parameters<Serializer['serializeRequest']>[0][number];

const KINDS = { server: 1, client: 2 } as const;
/** The flag of the trace context. Not that of `traceparent.ts`: a module that both files of a bundle use becomes a third file. */
const SAMPLED = 1;
const UNSET = 0;
const ERROR = 2;

export function toReadableSpan(
  span: Span,
  resource: ReadableSpan['resource'],
  instrumentationScope: ReadableSpan['instrumentationScope'],
): ReadableSpan {
  const { traceId, parentSpanId, startMs, durationMs } = span;
  const context = (spanId: string) => ({ traceId, spanId, traceFlags: SAMPLED });
  const own = context(span.spanId);
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => own,
    ...(parentSpanId !== undefined && { parentSpanContext: context(parentSpanId) }),
    startTime: toHrTime(startMs),
    endTime: toHrTime(startMs + durationMs),
    duration: toHrTime(durationMs),
    status: { code: span.failed ? ERROR : UNSET },
    attributes: span.attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds, from milliseconds to the microsecond: a double holds no finer time since 1970. */
export function toHrTime(ms: number): [number, number] {
  const us = Math.round(ms * 1000);
  const seconds = Math.floor(us / 1_000_000);
  return [seconds, (us - seconds * 1_000_000) * 1000];
}
