import { GatewayError, type ErrorDetail } from '@gateway/shared/errors/gateway-error';
import { isId, type IdPrefix } from '@gateway/shared/ids';
import type { z } from 'zod';
import { KnownFields } from './known-fields.ts';

/** The maximum number of `details` in an error. */
const MAX_DETAILS = 50;
/** The name of an unknown field in one of these may be a misplaced secret, so the error does not repeat it. */
const SECRET_FIELDS = new Set(['credential']);
/** Longer paths are cut, because they may contain unknown field names of any length. */
const MAX_PATH_CHARS = 256;

/** The detail of an error for a field of `input`. */
export type DescribeFault = (
  input: unknown,
  path: readonly PropertyKey[],
  message: string,
) => ErrorDetail;

function dottedFault(_input: unknown, path: readonly PropertyKey[], message: string): ErrorDetail {
  return { path: path.map(String).join('.'), message };
}

/**
 * Validates a body or a query.
 *
 * @throws GatewayError invalid_request; its `details` name each invalid field
 */
export function parseInput<T>(
  schema: z.ZodType<T>,
  input: unknown,
  describe: DescribeFault = dottedFault,
): T {
  const known = new KnownFields();
  const result = schema.safeParse(input, {
    reportInput: true,
    error: (issue) => known.note(issue),
  });
  if (result.success) return result.data;
  const { issues } = result.error;
  if (issues.some(isNotAnObject)) throw invalidField('', 'the body must be a JSON object');
  const fault = (path: readonly PropertyKey[], message: string) => describe(input, path, message);
  throw invalidRequest(
    withoutDuplicates(issues.flatMap((issue) => detailsOf(issue, fault, known))),
  );
}

/** A 400. The message is the first of the details; `details` has all of them. */
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

/** The `{id}` of a path. An invalid id is not looked up. @throws the error of `notFound` */
export function pathId(
  params: Readonly<Record<string, string>>,
  prefix: IdPrefix,
  notFound: () => GatewayError,
): string {
  const id = params['id'] ?? '';
  if (!isId(prefix, id)) throw notFound();
  return id;
}

/** A 400 for one field. */
export function invalidField(path: string, message: string): GatewayError {
  return invalidRequest([{ path, message }]);
}

/** A value may fail several checks with the same message, such as both bounds of a number. */
function withoutDuplicates(details: readonly ErrorDetail[]): readonly ErrorDetail[] {
  return [...new Map(details.map((detail) => [JSON.stringify(detail), detail])).values()];
}

/** The issues that zod reports for a missing field. */
const ISSUES_IF_MISSING: ReadonlySet<string> = new Set([
  'invalid_type',
  'invalid_value',
  'invalid_union',
]);

/** In that case zod still runs the checks that span several fields, which then report missing fields. */
function isNotAnObject({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' && path.length === 0;
}

function detailsOf(
  issue: z.core.$ZodIssue,
  fault: (path: readonly PropertyKey[], message: string) => ErrorDetail,
  known: KnownFields,
): ErrorDetail[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    if (SECRET_FIELDS.has(String(path.at(-1)))) {
      return [fault(path, 'has an unknown field')];
    }
    return issue.keys.map((key) =>
      fault([...path, key], `is not a known field${known.similarTo(key, path)}`),
    );
  }
  const missing = ISSUES_IF_MISSING.has(issue.code) && issue.input === undefined;
  return [fault(path, missing ? 'is required' : issue.message)];
}
