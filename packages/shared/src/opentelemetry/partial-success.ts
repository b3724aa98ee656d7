/** What a receiver did not take of an export that it accepted (OTLP, "Partial Success"). It must not be sent again. */
export interface Rejected {
  /** Spans, or data points of metrics; at least 1. */
  readonly count: number;
  readonly reason: string;
}

const MAX_REASON_CHARS = 200;
const OPENING_BRACE = 0x7b;

/** The body of a response in JSON. Receivers may answer in it whatever they were sent; no message begins with its first byte. */
export function jsonResponse(body: Uint8Array): unknown {
  if (body[0] !== OPENING_BRACE) return undefined;
  return JSON.parse(new TextDecoder().decode(body));
}

/**
 * What a response rejects; undefined: nothing. A count may be a string, as JSON has integers of 64 bits.
 *
 * @param countName the field of the count, which differs by signal
 */
export function rejectedBy(response: unknown, countName: string): Rejected | undefined {
  const { partialSuccess } = (response ?? {}) as { partialSuccess?: unknown };
  if (typeof partialSuccess !== 'object' || partialSuccess === null) return undefined;
  const fields = partialSuccess as Readonly<Record<string, unknown>>;
  const count = Number(fields[countName] ?? 0);
  if (!Number.isSafeInteger(count) || count < 1) return undefined;
  const { errorMessage } = fields;
  const reason = typeof errorMessage === 'string' ? errorMessage : '';
  return { count, reason: reason.slice(0, MAX_REASON_CHARS) };
}
