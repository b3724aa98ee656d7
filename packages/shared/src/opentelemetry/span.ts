import { MAX_METHOD_CHARS, REGISTERED_METHODS } from '../http/methods.ts';
import { withoutTokenSecrets } from '../tokens/secret.ts';

/** One finished operation of a trace, as plain data. */
export interface Span {
  readonly name: string;
  /** `server`: a request that this process received; `client`: one that it sent. */
  readonly kind: 'server' | 'client';
  readonly traceId: string;
  readonly spanId: string;
  /** undefined: the span begins its trace. */
  readonly parentSpanId: string | undefined;
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly failed: boolean;
  /** Those that are undefined are left out. */
  readonly attributes: SpanAttributes;
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** The attributes of a method: callers can invent methods, so an unknown one becomes no name of a span. */
export function methodAttributes(method: string): SpanAttributes {
  return REGISTERED_METHODS.has(method)
    ? { 'http.request.method': method }
    : {
        'http.request.method': '_OTHER',
        'http.request.method_original': withoutTokenSecrets(method).slice(0, MAX_METHOD_CHARS),
      };
}

/** `{method} {route}`, as the semantic conventions prescribe. */
export function httpSpanName(method: string, route?: string): string {
  const known = REGISTERED_METHODS.has(method) ? method : 'HTTP';
  return route === undefined ? known : `${known} ${route}`;
}
