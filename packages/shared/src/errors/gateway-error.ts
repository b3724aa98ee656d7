import { ERROR_TABLE, type ErrorCode } from './error-table.ts';

/** A field of the body, query or headers that is invalid, and why. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

export type ErrorHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface GatewayErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** Extra response headers, such as `Retry-After` or `Allow`. Each value of a list is a field of its own. */
  readonly headers?: ErrorHeaders;
  readonly cause?: unknown;
}

/**
 * An error that the caller gets to see: the envelope contains its code, message and details. Anything else that is
 * thrown becomes `internal_error`, without its own message. It has no stack trace: it is an answer, not a fault of the code,
 * and making the trace would be a large part of the cost of a refusal, just when there are many.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: ErrorHeaders;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'GatewayError';
    this.code = code;
    this.status = ERROR_TABLE[code].status;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** The error body: `{error: {code, message, request_id, details?}}`, as JSON text. */
export function errorBody(
  code: ErrorCode,
  message: string,
  requestId: string,
  details?: readonly ErrorDetail[],
): string {
  const error = { code, message, request_id: requestId };
  return JSON.stringify({ error: details === undefined ? error : { ...error, details } });
}
