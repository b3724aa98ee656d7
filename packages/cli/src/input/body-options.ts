import type { FormFields } from '@gateway/client/form-fields';
import type { Command } from 'commander';
import { UsageError } from '../program/exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readBody, type Fields } from './read-body.ts';
import { setFields } from './set-fields.ts';

export interface BodyOptions {
  readonly file?: string;
  readonly set?: readonly string[];
}

/** Adds the options for the fields that have no option of their own. */
export const withBodyOptions = (command: Command): Command =>
  command
    .option('-f, --file <file>', 'read fields from a YAML or JSON file; - for stdin')
    .option('--set <field=value>', SET_HELP, collect);

const SET_HELP =
  'set a field, such as rate_limit.limit=100, retry.backoff_ms=1.5s or methods=[GET]; the value is YAML; may be repeated';

/** For an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  value,
];

/** What the options are for. */
interface BodyParts {
  readonly terminal: Terminal;
  /** The fields of the resource, as the API defines them. */
  readonly fields: FormFields;
}

/**
 * The fields that the options give: those of the file, over them those of options, over them those of `--set`.
 * @param own the fields of options; undefined if an option was not given
 * @param current the fields of the resource, which `--set` changes in part
 */
export async function bodyOf(
  { file, set = [] }: BodyOptions,
  own: Fields,
  { terminal, fields }: BodyParts,
  current: Fields = {},
): Promise<Fields> {
  const fromFile = file === undefined ? {} : await readBody(file, terminal);
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const body = { ...fromFile, ...Object.fromEntries(given) };
  return { ...body, ...(await setFields({ ...current, ...body }, set, { fields })) };
}

/** As `bodyOf`, for a change of a resource. @throws UsageError if nothing is to be changed */
export async function changesOf(
  options: BodyOptions,
  own: Fields,
  parts: BodyParts,
  current: Fields,
): Promise<Fields> {
  const body = await bodyOf(options, own, parts, current);
  if (Object.keys(body).length > 0) return body;
  throw new UsageError('there is nothing to change; give a field, such as --set FIELD=VALUE');
}
