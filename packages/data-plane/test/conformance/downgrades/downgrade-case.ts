import type { ErrorCode } from '@gateway/shared/errors/error-table';
import { TARGET, type UpstreamExpectation } from '../case.ts';

export type Fields = readonly (readonly [name: string, value: string])[];

/** An HTTP/2 request that a gateway could turn into another HTTP/1.1 request, and what must happen to it. */
export interface DowngradeCase {
  readonly name: string;
  /** The source of the expectation. */
  readonly rule: string;
  /** All fields in order. `{token}` is replaced by the token of the caller. */
  readonly fields: Fields;
  /** The payloads of DATA frames; the last one ends the stream. */
  readonly body?: readonly string[];
  /** The last field block, which ends the stream. */
  readonly trailers?: Fields;
  /** The result over HTTP/2. */
  readonly result: Result;
  /** The result of the same request over HTTP/1.1, or why there is no such request. */
  readonly http1: 'same' | Result | Inexpressible;
}

export type Result =
  /** Forwarded, and answered by the upstream with 200. */
  | { readonly kind: 'served'; readonly upstream: UpstreamExpectation }
  /** Answered by the gateway. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly code?: ErrorCode;
      /** Whether another request may follow on an HTTP/1.1 connection. */
      readonly connection: 'stays' | 'ends';
    }
  /** The stream is reset as malformed (RFC 9113 section 8.1.1). */
  | { readonly kind: 'reset' };

export interface Inexpressible {
  readonly kind: 'inexpressible';
  readonly why: string;
}

export const RESET: Result = { kind: 'reset' };

export function served(upstream: UpstreamExpectation = {}): Result {
  return { kind: 'served', upstream };
}

/** Refused as a whole, so that an HTTP/1.1 connection may continue. */
export function refused(status = 400, code: ErrorCode = 'invalid_request'): Result {
  return { kind: 'answered', status, code, connection: 'stays' };
}

/** Not well-formed, so that an HTTP/1.1 connection ends. */
export const MALFORMED: Result = {
  kind: 'answered',
  status: 400,
  code: 'invalid_request',
  connection: 'ends',
};

export function inexpressible(why: string): Inexpressible {
  return { kind: 'inexpressible', why };
}

/** The pseudo-header fields of a valid request, with some of them replaced; undefined leaves one out. */
export function pseudo(changes: Changes = {}): (readonly [string, string])[] {
  const all: Changes = {
    ':method': 'GET',
    ':scheme': 'https',
    ':authority': 'gateway.test',
    ':path': TARGET,
    ...changes,
  };
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

type Changes = Readonly<Record<string, string | undefined>>;

const BEARER = ['authorization', 'Bearer {token}'] as const;

/** The fields of a GET with the token and these additional fields. */
export function get(...more: Fields): Fields {
  return [...pseudo(), BEARER, ...more];
}

/** The fields of a POST. */
export function post(...more: Fields): Fields {
  return [...pseudo({ ':method': 'POST' }), BEARER, ...more];
}

/** The fields of a request with some of its pseudo-header fields replaced. */
export function changed(changes: Changes, ...more: Fields): Fields {
  return [...pseudo(changes), BEARER, ...more];
}

/** Text in a name of a case. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
