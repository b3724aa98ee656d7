/** The caller's place in its trace, from a `traceparent` field. */
export interface ParentSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** The flags of version 00: `SAMPLED` and `RANDOM`. Others are removed, because they must be sent as zero. */
  readonly flags: number;
}

export const SAMPLED = 0x01;
const RANDOM = 0x02;
const VERSION = '00';
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);

/** Parses `traceparent` (W3C Trace Context sections 3.2.2 and 4.3). undefined: it is malformed. */
export function parseTraceparent(text: string): ParentSpan | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || traceId === NO_TRACE || spanId === NO_PARENT) return undefined;
  // Only a later version may have more after the flags.
  if (version === VERSION && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & (SAMPLED | RANDOM) };
}

/** Writes `traceparent`. */
export function traceparentOf(traceId: string, spanId: string, flags: number): string {
  return `${VERSION}-${traceId}-${spanId}-0${flags}`;
}
