import type { components } from './generated/api.ts';

type ErrorBody = components['schemas']['Error'];

/** A field that the API refuses, and the rule that it breaks. */
export type ErrorDetail = NonNullable<ErrorBody['error']['details']>[number];

/** The codes of the API. `unknown_error`: the response is not one of the API, but perhaps of a proxy before it. */
export type ErrorCode = ErrorBody['error']['code'] | 'not_modified' | 'unknown_error';

/** A response that is not 2xx, or that is not one of the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  /** Each invalid field; empty for most errors. */
  readonly details: readonly ErrorDetail[];
  /** For logs and support; undefined if the response has none. */
  readonly requestId: string | undefined;
  readonly headers: Headers;

  /** @param body the parsed body, or its text if it is not JSON */
  constructor(response: Response, body: unknown) {
    const error = isErrorBody(body) ? body.error : undefined;
    super(error?.message ?? textOf(response));
    this.status = response.status;
    this.code = error?.code ?? (response.status === 304 ? 'not_modified' : 'unknown_error');
    this.details = error?.details ?? [];
    this.requestId = error?.request_id ?? response.headers.get('x-request-id') ?? undefined;
    this.headers = response.headers;
  }
}

/** There was no response: the address cannot be reached, or the deadline passed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/**
 * Whether a 2xx response is one of the API. Another program at the address, or a proxy before the gateway, may answer
 * as well, and then nothing is known of what was done.
 */
export function isAnswer(response: Response, body: unknown): boolean {
  if (response.status === 204) return true;
  if (typeof body !== 'object' || body === null) return false;
  // Each response has the id of the request, except the description of the API.
  return ('data' in body && 'request_id' in body) || 'openapi' in body;
}

function textOf({ status, url }: Response): string {
  if (status === 304) return 'The resource has not changed.';
  const source = URL.canParse(url) ? ` of ${new URL(url).origin}` : '';
  return `The response${source} has the status ${status}, and is not one of the gateway.`;
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
}
