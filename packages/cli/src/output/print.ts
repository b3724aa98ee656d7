import { dataText } from './data-text.ts';
import { flatten } from './flatten.ts';
import { isData, type Output } from './formats.ts';
import { styleOfWord } from './meanings.ts';
import { printable } from './printable.ts';
import { cellsLine, tableLines, widthsOf, type Cell, type Column, type Look } from './table.ts';

/** The text of a list. */
export function listText<Item>(
  items: readonly Item[],
  output: Output,
  columns: readonly Column<Item>[],
  look: Look,
): Promise<string> | string {
  if (isData(output)) return dataText(items, output);
  return linesText(tableLines(items, columns, look, output === 'wide'));
}

/** The text of one resource for people: a line for each field. */
export function fieldsText(resource: unknown, look: Look): string {
  const rows = flatten(resource).map(([path, value]): Cell[] => {
    const style = /(^|\.)status$/.test(path) ? styleOfWord(value) : undefined;
    return [{ text: path }, { text: printable(value), style }];
  });
  const widths = widthsOf(rows);
  return linesText(rows.map((row) => cellsLine(row, widths, look)));
}

/** A line break after each line. */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
