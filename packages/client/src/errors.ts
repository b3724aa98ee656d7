import type { components } from './generated/api.ts';

type ErrorBody = components['schemas']['Error'];

/** A field that the API refuses, and the rule that it breaks. */
export type ErrorDetail = NonNullable<ErrorBody['error']['details']>[number];

/** The codes of the API. `unknown_error`: the response is not one of the API, but perhaps of a proxy before it. */
export type ErrorCode = ErrorBody['error']['code'] | 'not_modified' | 'unknown_error';

/** A response that is not 2xx. */
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
    super(error?.message ?? `The response has the status ${response.status}.`);
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

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
}
