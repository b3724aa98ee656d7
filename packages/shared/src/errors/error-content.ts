import { prefersNamed } from '../http/accept.ts';
import { ERROR_TABLE, type ErrorCode } from './error-table.ts';
import { errorBody, type ErrorDetail } from './gateway-error.ts';

/** The page of the control plane that describes each code. */
export const ERRORS_PATH = '/docs/errors';
export const PROBLEM_TYPE = 'application/problem+json';

/** The body of an error response, and its media type. */
export interface ErrorContent {
  readonly type: string;
  readonly body: string;
}

/**
 * The body of an error response: `{error: {code, message, request_id, details?}}`. A caller whose `Accept` names
 * `application/problem+json`, and does not prefer `application/json`, gets the members of problem details (RFC 9457) beside
 * it. So each error response varies by `Accept`.
 *
 * @param accept the value of `Accept`; undefined: there is none, or the request could not be read
 */
export function errorContent(
  accept: string | undefined,
  code: ErrorCode,
  message: string,
  requestId: string,
  details?: readonly ErrorDetail[],
): ErrorContent {
  const body = errorBody(code, message, requestId, details);
  if (accept === undefined || !asksForProblem(accept)) {
    return { type: 'application/json; charset=utf-8', body };
  }
  const members = {
    type: `${ERRORS_PATH}#${code}`,
    title: titleOf(code),
    status: ERROR_TABLE[code].status,
    detail: message,
    instance: `/v1/requests/${requestId}`,
  };
  return { type: PROBLEM_TYPE, body: `${JSON.stringify(members).slice(0, -1)},${body.slice(1)}` };
}

/** What the code means, the same for each error with it. */
export function titleOf(code: ErrorCode): string {
  return code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ');
}

function asksForProblem(accept: string): boolean {
  // Nearly all callers are told apart by this alone.
  if (!/problem\+json/i.test(accept)) return false;
  return prefersNamed(accept, PROBLEM_TYPE, 'application/json');
}
