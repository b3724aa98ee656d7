import { stringify } from 'yaml';
import { flatten } from './flatten.ts';
import { printable } from './printable.ts';
import { alignedLines, tableLines, type Column } from './table.ts';

export const OUTPUTS = ['table', 'wide', 'json', 'yaml'] as const;
export type Output = (typeof OUTPUTS)[number];

/** The text of a list. */
export function listText<Item>(
  items: readonly Item[],
  output: Output,
  columns: readonly Column<Item>[],
): string {
  if (output === 'json' || output === 'yaml') return dataText(items, output);
  const shown = columns.filter(({ wide }) => output === 'wide' || wide !== true);
  return linesText(tableLines(items, shown));
}

/** The text of one resource: a line for each field, or JSON or YAML. */
export function resourceText(resource: unknown, output: Output): string {
  if (output === 'json' || output === 'yaml') return dataText(resource, output);
  const rows = flatten(resource).map(([path, value]) => [path, printable(value)]);
  return linesText(alignedLines(rows));
}

/** JSON escapes control characters, and so does YAML. */
function dataText(data: unknown, output: 'json' | 'yaml'): string {
  return output === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data);
}

/** A line break after each line. */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
