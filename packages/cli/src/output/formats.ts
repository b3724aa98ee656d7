import { InvalidArgumentError } from 'commander';
import { valuesAt } from './json-path.ts';

/** What `-o` takes, as help shows it. */
export const FORMATS = ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath=<path>'] as const;

/** How a result is printed: for people, or as data that a program reads. */
export type Output = 'table' | 'wide' | DataOutput;
export type DataOutput = 'json' | 'yaml' | 'name' | `jsonpath=${string}`;

/** Reads the value of `-o`. */
export function parseOutput(text: string): Output {
  if (['table', 'wide', 'json', 'yaml', 'name'].includes(text)) return text as Output;
  const path = /^jsonpath=(.+)$/s.exec(text)?.[1];
  if (path !== undefined) {
    // A wrong path is refused before anything is asked or changed.
    valuesAt(path, null);
    return text as Output;
  }
  throw new InvalidArgumentError(`It must be one of ${FORMATS.join(', ')}.`);
}

export const isData = (output: Output): output is DataOutput =>
  output !== 'table' && output !== 'wide';
