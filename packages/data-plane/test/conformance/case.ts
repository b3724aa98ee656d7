import type { ErrorCode } from '@gateway/shared/errors/error-table';
import type { ScriptedAnswer } from './recording-upstream.ts';

/** One rule of HTTP, what a caller sends against or within it, and what both sides must see. */
export interface ConformanceCase {
  readonly name: string;
  /** Where the expectation comes from. */
  readonly rule: string;
  /**
   * The exact bytes, one character each; `{token}` stands for the caller's token, `{basic}` for it as
   * a password. Of several parts each one is sent when the response before it has come.
   */
  readonly send: string | readonly string[];
  readonly client: ClientExpectation;
  /** The requests that reach the upstream, each well-formed and to its end. */
  readonly upstream: 'none' | UpstreamExpectation | readonly UpstreamExpectation[];
  /** What the upstream answers the case with; left out: 200 with the last segment of the path. */
  readonly answer?: ScriptedAnswer;
}

interface ClientExpectation {
  /**
   * The status of each response in order, interim ones too. `broken`: one that breaks off, before its
   * head or within its body, so that it cannot look complete. `reset`: one whose body the end of the
   * connection would end, so that only a reset tells that it broke off.
   */
  readonly responses: readonly (number | 'broken' | 'reset')[];
  /** Whether another request may follow on the connection. */
  readonly connection: 'stays' | 'ends';
  /** Of the last response, where it is the gateway's own. */
  readonly code?: ErrorCode;
  /** Of the last response. */
  readonly body?: string;
  /** Fields of the last response, `name: value` with the name in lower case. */
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  /** The methods that the responses answer, where it is not GET. */
  readonly methods?: readonly string[];
}

export interface UpstreamExpectation {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string;
  /** Lines, `name: value` with the name in lower case. */
  readonly has?: readonly string[];
  /** Names of which there is one line, in whichever spelling. */
  readonly once?: readonly string[];
  /** Whether it asks to switch, as only then `Connection` and `Upgrade` go on. */
  readonly upgrades?: boolean;
  /** Names, in lower case and with dashes; a name with underscores counts as the one with dashes. */
  readonly lacks?: readonly string[];
}

export const HOST = 'Host: gateway.test';
export const AUTHORIZED = 'Authorization: Bearer {token}';
export const TARGET = '/v1/proxy/test/case';

/** The text of a request, from its parts as they stand. */
export function text(startLine: string, lines: readonly string[], body = ''): string {
  return `${[startLine, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** A well-formed request with the token, and these lines besides. */
export function request(method: string, lines: readonly string[] = [], body = ''): string {
  return text(`${method} ${TARGET} HTTP/1.1`, [HOST, AUTHORIZED, ...lines], body);
}

export function get(lines: readonly string[] = []): string {
  return request('GET', lines);
}

export function post(lines: readonly string[], body = ''): string {
  return request('POST', lines, body);
}

/** A request that must never be seen by anyone: it hides in the body of another. */
export const SMUGGLED = text('GET /v1/proxy/test/smuggled HTTP/1.1', [HOST, AUTHORIZED]);

/** Refused, and the connection given up, as nothing after it can be told apart. */
export const REFUSED_FOR_GOOD = {
  client: { responses: [400], code: 'invalid_request', connection: 'ends' },
  upstream: 'none',
} as const satisfies Partial<ConformanceCase>;

/** Refused, while the end of the message is not in doubt. */
export const REFUSED = {
  client: { responses: [400], code: 'invalid_request', connection: 'stays' },
  upstream: 'none',
} as const satisfies Partial<ConformanceCase>;

/** Answered by the upstream. */
export const SERVED = { responses: [200], body: 'case', connection: 'stays' } as const;

/** The upstream's response cannot be trusted: the caller gets the gateway's own, and goes on. */
export const BAD_GATEWAY = {
  send: get(),
  client: { responses: [502], code: 'upstream_unavailable', connection: 'stays' },
  upstream: {},
} as const satisfies Partial<ConformanceCase>;
