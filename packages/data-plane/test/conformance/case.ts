import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { ScriptedAnswer } from './recording-upstream.ts';

/** A request that breaks or uses a rule of HTTP, and what caller and upstream must see. */
export interface ConformanceCase {
  readonly name: string;
  /** The source of the expectation. */
  readonly rule: string;
  /**
   * The exact bytes; each character is one byte. `{token}` is replaced by the token of the caller, `{basic}` by the
   * token as a password. Each of several parts is sent after the response before it has arrived.
   */
  readonly send: string | readonly string[];
  readonly client: ClientExpectation;
  /** The requests that reach the upstream, each well-formed and to its end. */
  readonly upstream: 'none' | UpstreamExpectation | readonly UpstreamExpectation[];
  /** The response of the upstream; by default 200 with the last segment of the path. */
  readonly answer?: ScriptedAnswer;
}

interface ClientExpectation {
  /**
   * The status of each response in order, including interim ones. `broken`: one that ends early, before its head or
   * within its body, and does not look complete. `reset`: one whose body would end with the connection, so that only a
   * reset shows that it ended early.
   */
  readonly responses: readonly (number | 'broken' | 'reset')[];
  /** Whether another request may follow on the connection. */
  readonly connection: 'stays' | 'ends';
  /** The error code of the last response, if the gateway sent it. */
  readonly code?: ErrorCode;
  /** The body of the last response. */
  readonly body?: string;
  /** Fields of the last response, `name: value` with the name in lower case. */
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  /** All trailers of the last response, `name: value` with the name in lower case. By default none. */
  readonly trailers?: readonly string[];
  /** The methods of the requests, if they are not GET. */
  readonly methods?: readonly string[];
}

export interface UpstreamExpectation {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string;
  /** Fields, `name: value` with the name in lower case. */
  readonly has?: readonly string[];
  /** Names that occur once, in any spelling. */
  readonly once?: readonly string[];
  /** All trailers, `name: value` with the name in lower case. By default none. */
  readonly trailers?: readonly string[];
  /** Whether `TE: trailers` is sent. */
  readonly takesTrailers?: boolean;
  /** Whether it is an upgrade, because only then `Connection` and `Upgrade` are forwarded. */
  readonly upgrades?: boolean;
  /** Names, in lower case and with dashes; a name with underscores counts as the one with dashes. */
  readonly lacks?: readonly string[];
}

export const HOST = 'Host: gateway.test';
export const AUTHORIZED = 'Authorization: Bearer {token}';
export const TARGET = '/v1/proxy/test/case';

/** The text of a request from its unchanged parts. */
export function text(startLine: string, lines: readonly string[], body = ''): string {
  return `${[startLine, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** A well-formed request with the token and these additional lines. */
export function request(method: string, lines: readonly string[] = [], body = ''): string {
  return text(`${method} ${TARGET} HTTP/1.1`, [HOST, AUTHORIZED, ...lines], body);
}

export function get(lines: readonly string[] = []): string {
  return request('GET', lines);
}

export function post(lines: readonly string[], body = ''): string {
  return request('POST', lines, body);
}

/** A request within the body of another one. It must never be handled. */
export const SMUGGLED = text('GET /v1/proxy/test/smuggled HTTP/1.1', [HOST, AUTHORIZED]);

/** Refused, and the connection closes, because nothing after it can be read. */
export const REFUSED_FOR_GOOD = {
  client: { responses: [400], code: 'invalid_request', connection: 'ends' },
  upstream: 'none',
} as const satisfies Partial<ConformanceCase>;

/** Refused, but the end of the message is certain, so the connection stays open. */
export const REFUSED = {
  client: { responses: [400], code: 'invalid_request', connection: 'stays' },
  upstream: 'none',
} as const satisfies Partial<ConformanceCase>;

/** Forwarded and answered by the upstream. */
export const SERVED = { responses: [200], body: 'case', connection: 'stays' } as const;

/** The response of the upstream is invalid: the caller gets an error of the gateway, and its connection stays open. */
export const BAD_GATEWAY = {
  send: get(),
  client: { responses: [502], code: 'upstream_unavailable', connection: 'stays' },
  upstream: {},
} as const satisfies Partial<ConformanceCase>;
