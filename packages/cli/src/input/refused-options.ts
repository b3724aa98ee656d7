import { ApiError } from '@gateway/client';
import { withoutDetail } from '../program/describe-error.ts';
import { RefusedInputError } from '../program/refused-input.ts';
import type { Fields } from './read-body.ts';

/** Fields whose option has another name. */
const OPTIONS: Readonly<Record<string, string>> = { service_id: '--service' };

/**
 * Does a call with fields of options. If the API refuses some, they are named as the user typed them: `--timeout-ms` and
 * not `timeout_ms`.
 * @param own the fields of options; undefined if an option was not given
 * @param names fields that are arguments, such as the name of a new route
 */
export async function namingOptions<Result>(
  own: Fields,
  names: readonly string[],
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.length === 0) throw error;
    const faults = error.details.map(({ path, message }) =>
      path === '' ? message : `${nameOf(path, own, names)}: ${message}`,
    );
    throw new RefusedInputError(withoutDetail(error), error, faults);
  }
}

function nameOf(path: string, own: Fields, names: readonly string[]): string {
  const [field = '', ...inner] = path.split('.');
  if (own[field] === undefined || names.includes(field)) return path;
  const option = OPTIONS[field] ?? `--${field.replaceAll('_', '-')}`;
  return inner.length === 0 ? option : `${option} (${path})`;
}
