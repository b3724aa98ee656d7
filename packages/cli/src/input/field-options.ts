import { amountKind, isAmountUnit } from '@gateway/client/amounts';
import {
  boundsText,
  plainText,
  type FormField,
  type FormFields,
} from '@gateway/client/form-fields';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { AMOUNT_HELP, amountOption } from './amounts.ts';
import { commaList, wholeNumber } from './numbers.ts';
import type { Fields } from './read-body.ts';

/**
 * Adds an option for each field that is a plain value or a list of them, as the API defines it: `--timeout-ms` of
 * `timeout_ms`. Fields of objects are for `--set`.
 *
 * @param own the fields that the command has options for itself, or takes as an argument
 */
export function withFieldOptions(
  command: Command,
  fields: FormFields,
  own: readonly string[],
): Command {
  for (const [name, field] of optional(fields, own)) {
    const flag = `--${name.replaceAll('_', '-')} <${valueName(field)}>`;
    const option = new Option(flag, helpOf(field));
    command.addOption(parsing(option, field));
  }
  return command.addHelpText('after', AMOUNT_HELP);
}

/** The fields of these options; undefined if an option was not given. */
export function optionFields(options: object, fields: FormFields, own: readonly string[]): Fields {
  const given = options as Fields;
  const named = optional(fields, own).map(([name]) => [name, given[optionName(name)]]);
  return Object.fromEntries(named) as Fields;
}

function optional(fields: FormFields, own: readonly string[]): readonly [string, FormField][] {
  return Object.entries(fields).filter(
    ([name, { kind }]) => kind !== 'object' && kind !== 'other' && !own.includes(name),
  );
}

/** As commander names it in its values. */
function optionName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function valueName({ kind, unit, choices }: FormField): string {
  if (kind === 'choice') return choices.map(([value]) => value).join('|');
  if (kind === 'switch') return 'true|false';
  if (kind === 'list') return 'a,b';
  if (isAmountUnit(unit)) return amountKind(unit);
  return unit ?? (kind === 'integer' ? 'number' : kind);
}

/** A part of a sentence, as the help of other options is. */
function helpOf(field: FormField): string {
  const { help, nullMeans } = field;
  const [first = '', ...rest] = plainText(help).replace(/\.$/, '');
  const bounds =
    boundsText(field) ?? (nullMeans === undefined ? undefined : `default ${plainText(nullMeans)}`);
  return `${first.toLowerCase()}${rest.join('')}${bounds === undefined ? '' : ` (${bounds})`}`;
}

function parsing(option: Option, { kind, choices, hasNumbers, ...field }: FormField): Option {
  const { unit, min, max } = field;
  if (isAmountUnit(unit)) return option.argParser(amountOption({ unit, min, max }));
  switch (kind) {
    case 'integer':
      return option.argParser(wholeNumber);
    case 'number':
      return option.argParser(numberOf);
    case 'switch':
      return option.argParser(trueOrFalse);
    case 'choice':
      return option.argParser((text) => oneOf(choices, text));
    case 'list':
      return option.argParser((text) => listOf(text, hasNumbers));
    default:
      return option;
  }
}

/** The API checks its bounds. */
function numberOf(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number.');
}

function listOf(text: string, hasNumbers: boolean): (string | number)[] {
  const items = commaList(text);
  return hasNumbers ? items.map(numberOf) : items;
}

function oneOf(choices: FormField['choices'], text: string): string {
  const values = choices.map(([value]) => value);
  if (values.includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${values.join(', ')}.`);
}

function trueOrFalse(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('It must be true or false.');
}
