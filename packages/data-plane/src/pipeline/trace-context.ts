import type { RandomSource } from '@gateway/shared/ids';
import { piecesOf } from '@gateway/shared/random-text';

/** W3C Trace Context, version 00: the trace that a request belongs to, and our own place in it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The field to send to the upstream: the caller's trace, with the gateway as the parent. */
  readonly traceparent: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;

/**
 * Continues the trace of a valid `traceparent`, or begins a new one where it is absent or malformed
 * (W3C Trace Context section 3.2.2). Randomness is drawn from the source, and becomes text, in blocks.
 */
export function createTracer(random: RandomSource): (incoming: string | undefined) => TraceContext {
  const block = Buffer.alloc((TRACE_BYTES + SPAN_BYTES) * 128);
  const hex = piecesOf(() => {
    random(block);
    return block.toString('hex');
  });

  return (incoming) => {
    const [, traceId, parentId, flags] =
      incoming === undefined ? [] : (TRACEPARENT.exec(incoming) ?? []);
    const valid = traceId !== undefined && traceId !== NO_TRACE && parentId !== NO_PARENT;
    const trace = valid ? traceId : hex(TRACE_BYTES * 2);
    // 01: recorded, as every request has a record with its trace id.
    return {
      traceId: trace,
      traceparent: `00-${trace}-${hex(SPAN_BYTES * 2)}-${valid ? flags : '01'}`,
    };
  };
}
