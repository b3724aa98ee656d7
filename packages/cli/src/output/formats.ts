import { InvalidArgumentError } from 'commander';
import { customColumns } from './custom-columns.ts';
import { valuesAt } from './json-path.ts';
import type { Column } from './table.ts';

/** What `-o` takes, as help shows it. */
export const FORMATS = [
  'table',
  'wide',
  'json',
  'yaml',
  'name',
  'jsonpath=<path>',
  'custom-columns=<columns>',
] as const;

/** How a result is printed: for people, or as data that a program reads. */
export type Output = 'table' | 'wide' | DataOutput;
export type DataOutput =
  | 'json'
  | 'yaml'
  | 'name'
  | `jsonpath=${string}`
  | `custom-columns=${string}`;

/** Reads the value of `-o`. */
export function parseOutput(text: string): Output {
  if (['table', 'wide', 'json', 'yaml', 'name'].includes(text)) return text as Output;
  const path = /^jsonpath=(.+)$/s.exec(text)?.[1];
  if (path !== undefined) {
    // A wrong path is refused before anything is asked or changed.
    valuesAt(path, null);
    return text as Output;
  }
  if (columnsOf(text) !== undefined) return text as Output;
  throw new InvalidArgumentError(`It must be one of ${FORMATS.join(', ')}.`);
}

export const isData = (output: Output): output is DataOutput =>
  output !== 'table' && output !== 'wide';

/** The columns that a format asks for; undefined: it is another format. @throws InvalidArgumentError if its columns are not valid */
export function columnsOf(output: string): readonly Column<unknown>[] | undefined {
  const columns = /^custom-columns=(.*)$/s.exec(output)?.[1];
  return columns === undefined ? undefined : customColumns(columns);
}
