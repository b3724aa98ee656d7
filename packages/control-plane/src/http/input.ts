import { GatewayError, type ErrorDetail } from '@gateway/shared/errors/gateway-error';
import type { z } from 'zod';

/** A request with more reasons than this shows the first ones only. */
const MAX_DETAILS = 50;
/** Below these a name that is not known may be a secret in the wrong place, so it is not repeated. */
const SECRET_FIELDS = new Set(['credential']);
/** A path longer than this is cut, as the names of unknown fields are the caller's. */
const MAX_PATH_CHARS = 256;

/**
 * What the schema makes of a body or a query.
 *
 * @throws GatewayError invalid_request whose `details` name each field that is wrong.
 */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw invalidRequest(withoutRepetition(result.error.issues.flatMap(detailsOf)));
}

/** A 400: its message is the first reason as a sentence, `details` has all of them. */
export function invalidRequest(all: readonly ErrorDetail[], cause?: unknown): GatewayError {
  const details = all
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path: path.slice(0, MAX_PATH_CHARS), message }));
  const [first] = details;
  const message =
    first === undefined
      ? 'The request is not valid.'
      : `The request is not valid: ${first.path === '' ? '' : `${first.path}: `}${first.message}.`;
  return new GatewayError('invalid_request', message, { details, cause });
}

/** A 400 for one field. */
export function invalidField(path: string, message: string): GatewayError {
  return invalidRequest([{ path, message }]);
}

/** A value may break several checks that say the same, such as a number beyond every bound. */
function withoutRepetition(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  return [...new Map(details.map((detail) => [JSON.stringify(detail), detail])).values()];
}

/** The issues of a value that is none of those that a field takes, as one that was left out is. */
const OF_VALUES: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

function detailsOf(issue: z.core.$ZodIssue): ErrorDetail[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    if (SECRET_FIELDS.has(path)) return [{ path, message: 'has a field that is not known' }];
    return issue.keys.map((key) => ({
      path: path === '' ? key : `${path}.${key}`,
      message: 'is not a known field',
    }));
  }
  const missing = OF_VALUES.has(issue.code) && issue.input === undefined;
  if (path === '' && issue.code === 'invalid_type') {
    return [{ path, message: 'the body must be a JSON object' }];
  }
  return [{ path, message: missing ? 'is required' : issue.message }];
}
