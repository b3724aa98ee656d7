import { ApiError } from '@gateway/client';
import { amountFault, isAmountUnit } from '@gateway/client/amounts';
import { fieldAt, type FormField, type FormFields } from '@gateway/client/form-fields';
import { withoutDetail } from '../program/describe-error.ts';
import { RefusedInputError } from '../program/refused-input.ts';
import type { Fields } from './read-body.ts';

/** Fields whose option has another name. */
const OPTIONS: Readonly<Record<string, string>> = {
  service_id: '--service',
  upstreams: '--upstream',
};

/** What a command line gives of a resource. */
interface GivenOptions {
  /** The fields of options; undefined if an option was not given. */
  readonly own: Fields;
  /** The fields of the resource. */
  readonly fields: FormFields;
  /** Fields that are arguments, such as the name of a new route. */
  readonly names?: readonly string[];
}

/**
 * Does a call with fields of options. If the API refuses some, they are named as the user typed them: `--timeout-ms` and
 * not `timeout_ms`. Their bounds have the units that the user may type.
 */
export async function namingOptions<Result>(
  given: GivenOptions,
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.length === 0) throw error;
    const faults = error.details.map(({ path, message }) =>
      path === ''
        ? message
        : `${nameOf(path, given)}: ${withUnits(message, fieldAt(given.fields, path))}`,
    );
    throw new RefusedInputError(withoutDetail(error), error, faults);
  }
}

function withUnits(message: string, { unit, min, max }: Partial<FormField> = {}): string {
  if (!isAmountUnit(unit) || min === undefined || max === undefined) return message;
  return amountFault(message, unit, { min, max });
}

function nameOf(path: string, { own, names = [] }: GivenOptions): string {
  const [field = '', ...inner] = path.split('.');
  if (own[field] === undefined || names.includes(field)) return path;
  const option = OPTIONS[field] ?? `--${field.replaceAll('_', '-')}`;
  return inner.length === 0 ? option : `${option} (${path})`;
}
