import { pseudo as pseudoOf, type Fields } from '@gateway/http/test/http2-frames';
import type { ErrorCode } from '@gateway/shared/errors/error-table';
import {
  REFUSED,
  REFUSED_FOR_GOOD,
  TARGET,
  type ConformanceCase,
  type UpstreamExpectation,
} from './case.ts';

export type { Fields } from '@gateway/http/test/http2-frames';

/** A request of HTTP/2, and what caller and upstream must see. */
export interface Http2Case extends Pick<ConformanceCase, 'name' | 'rule' | 'answer'> {
  /** All fields in order. `{token}` and `{basic}` are replaced as in the text of a request. */
  readonly fields: Fields;
  /** The payloads of DATA frames; the last one ends the stream. */
  readonly body?: readonly string[];
  /** The last field block, which ends the stream. */
  readonly trailers?: Fields;
  readonly result: Result;
}

/** The stream is reset as malformed (RFC 9113 section 8.1.1). It is no request: it has no response and no record. */
export const RESET = 'reset';
export type Answered = Pick<ConformanceCase, 'client' | 'upstream'>;
type Result = Answered | typeof RESET;

/** A request of HTTP/2 that a gateway could turn into another request of HTTP/1.1. */
export interface FieldsCase extends Http2Case {
  /** The result of the same request over HTTP/1.1, or why there is no such request. */
  readonly http1: 'same' | Answered | { readonly why: string };
}

export function served(upstream: UpstreamExpectation = {}): Answered {
  return { client: { responses: [200], connection: 'stays' }, upstream };
}

/** Refused as a whole, so that an HTTP/1.1 connection may continue. */
export function refused(status = 400, code: ErrorCode = 'invalid_request'): Answered {
  return { ...REFUSED, client: { ...REFUSED.client, responses: [status], code } };
}

/** Not well-formed, so that an HTTP/1.1 connection ends. */
export const MALFORMED = REFUSED_FOR_GOOD;

/** There is no such request of HTTP/1.1. */
export function inexpressible(why: string): { readonly why: string } {
  return { why };
}

/** The pseudo-header fields of a valid request, with some of them replaced; undefined leaves one out. */
export function pseudo(changes: Changes = {}): (readonly [string, string])[] {
  return Object.entries({ ...Object.fromEntries(pseudoOf('GET', TARGET)), ...changes }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, value] as const]),
  );
}

type Changes = Readonly<Record<string, string | undefined>>;

const BEARER = ['authorization', 'Bearer {token}'] as const;

/** The fields of a GET with the token and these additional fields. */
export function get(...more: Fields): Fields {
  return changed({}, ...more);
}

/** The fields of a POST. */
export function post(...more: Fields): Fields {
  return changed({ ':method': 'POST' }, ...more);
}

/** The fields of a request with some of its pseudo-header fields replaced. */
export function changed(changes: Changes, ...more: Fields): Fields {
  return [...pseudo(changes), BEARER, ...more];
}

/** Text in a name of a case. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
