import { traceparentOf } from '@gateway/shared/opentelemetry/traceparent';

/** The ids of the spans of a sampled request. */
export class SampledTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** undefined: the request begins the trace. */
  readonly parentSpanId: string | undefined;
  /** The span of each attempt so far, in order. */
  readonly attemptSpanIds: readonly string[];
  readonly #ids: string[];
  readonly #flags: number;
  readonly #newSpan: () => string;

  constructor(
    traceId: string,
    parentSpanId: string | undefined,
    flags: number,
    newSpan: () => string,
  ) {
    this.traceId = traceId;
    this.parentSpanId = parentSpanId;
    this.spanId = newSpan();
    this.#ids = [];
    this.attemptSpanIds = this.#ids;
    this.#flags = flags;
    this.#newSpan = newSpan;
  }

  /** Begins the span of an attempt. Returns the field for its upstream. */
  nextTraceparent(): string {
    const spanId = this.#newSpan();
    this.#ids.push(spanId);
    return traceparentOf(this.traceId, spanId, this.#flags);
  }
}
