import type { RandomSource } from '@gateway/shared/ids';
import { piecesOf } from '@gateway/shared/random-text';

/** W3C Trace Context (Level 2), version 00: the trace of a request and the gateway's span in it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The field for the upstream: the request's trace with the gateway as the parent. */
  readonly traceparent: string;
  /** The caller's vendor data; only sent if the caller's trace continues. */
  readonly tracestate: string | undefined;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const VERSION = '00';
/** Sampled and random: the flags of version 00; the others must be sent as zero. */
const KNOWN_FLAGS = 0x03;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const TRACES_AT_ONCE = 128;
/** Offsets in the text of a new trace: `00-{trace}-{span}-01`. */
const TRACE_AT = 3;
const SPAN_AT = TRACE_AT + TRACE_BYTES * 2 + 1;
const CHARS = SPAN_AT + SPAN_BYTES * 2 + 3;

/**
 * Continues the trace of a valid `traceparent` with its `tracestate`, or starts a new trace if it is
 * absent or malformed (W3C Trace Context sections 3.2.2 and 4.3). Random bytes are drawn and turned into
 * text in blocks, so that a new trace costs one slice of a text.
 */
export function createTracer(
  random: RandomSource,
): (traceparent: string | undefined, tracestate?: string) => TraceContext {
  const freshTrace = piecesOf(newTraces(random));
  return (traceparent, tracestate) => {
    const fresh = freshTrace(CHARS);
    const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    if (caller === undefined) {
      const traceId = fresh.slice(TRACE_AT, TRACE_AT + TRACE_BYTES * 2);
      return { traceId, traceparent: fresh, tracestate: undefined };
    }
    const { traceId, flags } = caller;
    const span = fresh.slice(SPAN_AT, SPAN_AT + SPAN_BYTES * 2);
    return { traceId, traceparent: `${VERSION}-${traceId}-${span}-${flags}`, tracestate };
  };
}

function parseTraceparent(text: string): { traceId: string; flags: string } | undefined {
  const [, version, traceId = '', parentId, flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || traceId === NO_TRACE || parentId === NO_PARENT) return undefined;
  // Only a later version may have more after the flags.
  if (version === VERSION && more !== undefined) return undefined;
  return { traceId, flags: `0${Number.parseInt(flags, 16) & KNOWN_FLAGS}` };
}

/** Returns blocks of new traces from one reused buffer. The flag 01 means recorded: every request has a record. */
function newTraces(random: RandomSource): () => string {
  const bytes = Buffer.alloc((TRACE_BYTES + SPAN_BYTES) * TRACES_AT_ONCE);
  const text = Buffer.from(`00-${NO_TRACE}-${NO_PARENT}-01`.repeat(TRACES_AT_ONCE));
  return () => {
    random(bytes);
    let next = 0;
    for (let start = 0; start < text.length; start += CHARS) {
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
