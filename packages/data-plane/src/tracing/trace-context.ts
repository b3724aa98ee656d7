import { type RandomSource, piecesOf } from '@gateway/shared/ids';
import {
  parseTraceparent,
  SAMPLED,
  traceparentOf,
} from '@gateway/shared/opentelemetry/traceparent';
import type { SampledTrace } from './sampled-trace.ts';

/** W3C Trace Context (Level 2), version 00: the trace of a request and the gateway's span in it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The field for the upstream: the request's trace with the gateway as the parent. */
  readonly traceparent: string;
  /** The caller's vendor data; only sent if the caller's trace continues. */
  readonly tracestate: string | undefined;
  /** Of a request whose spans are exported: their ids. `traceparent` names the span of the first attempt then. */
  readonly sampled?: SampledTrace | undefined;
}

/** Makes the trace context of a request from the caller's fields. */
export type Tracer = (traceparent: string | undefined, tracestate?: string) => TraceContext;

const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const TRACES_AT_ONCE = 128;
/** Offsets in the text of a new trace: `00-{trace}-{span}-01`. */
const TRACE_AT = 3;
const SPAN_AT = TRACE_AT + TRACE_BYTES * 2 + 1;
/** Characters of a new trace. */
export const TRACE_CHARS = SPAN_AT + SPAN_BYTES * 2 + 3;

/**
 * Continues the trace of a valid `traceparent` with its `tracestate`, or starts a new trace if it is
 * absent or malformed (W3C Trace Context sections 3.2.2 and 4.3). Random bytes are drawn and turned into
 * text in blocks, so that a new trace costs one slice of a text.
 */
export function createTracer(random: RandomSource): Tracer {
  // The flag means recorded: every request has a record.
  const freshTrace = piecesOf(newTraces(random, SAMPLED));
  return (traceparent, tracestate) => {
    const fresh = freshTrace(TRACE_CHARS);
    const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    if (caller === undefined) {
      return { traceId: freshTraceId(fresh), traceparent: fresh, tracestate: undefined };
    }
    const { traceId, flags } = caller;
    return { traceId, traceparent: traceparentOf(traceId, freshSpan(fresh), flags), tracestate };
  };
}

/** The trace id of a new trace. */
export function freshTraceId(fresh: string): string {
  return fresh.slice(TRACE_AT, TRACE_AT + TRACE_BYTES * 2);
}

/** The span id of a new trace. */
export function freshSpan(fresh: string): string {
  return fresh.slice(SPAN_AT, SPAN_AT + SPAN_BYTES * 2);
}

/** Returns blocks of new traces from one reused buffer. */
export function newTraces(random: RandomSource, flags: number): () => string {
  const bytes = Buffer.alloc((TRACE_BYTES + SPAN_BYTES) * TRACES_AT_ONCE);
  const one = traceparentOf(NO_TRACE, NO_PARENT, flags);
  const text = Buffer.from(one.repeat(TRACES_AT_ONCE));
  return () => {
    random(bytes);
    let next = 0;
    for (let start = 0; start < text.length; start += TRACE_CHARS) {
      writeHex(bytes, next, TRACE_BYTES, text, start + TRACE_AT);
      next += TRACE_BYTES;
      writeHex(bytes, next, SPAN_BYTES, text, start + SPAN_AT);
      next += SPAN_BYTES;
    }
    return text.toString('latin1');
  };
}

const HEX_DIGITS = Buffer.from('0123456789abcdef');

function writeHex(from: Buffer, start: number, bytes: number, into: Buffer, at: number): void {
  for (let index = 0; index < bytes; index += 1) {
    const byte = from[start + index] ?? 0;
    into[at + index * 2] = HEX_DIGITS[byte >> 4] ?? 0;
    into[at + index * 2 + 1] = HEX_DIGITS[byte & 15] ?? 0;
  }
}
