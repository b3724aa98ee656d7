import { stringify } from 'yaml';
import { linesText, type Output } from './print.ts';
import { alignedLines, tableCells, type Column } from './table.ts';

/**
 * Prints items that come one after the other: lines of a table, a line of JSON for each, or a YAML document for each.
 * A column of the table becomes wider when an item needs it.
 */
export function recordPrinter<Item>(
  columns: readonly Column<Item>[],
  output: Output,
  out: (text: string) => void,
): (items: readonly Item[]) => void {
  if (output === 'json')
    return (items) => out(linesText(items.map((item) => JSON.stringify(item))));
  if (output === 'yaml')
    return (items) => out(items.map((item) => `---\n${stringify(item)}`).join(''));
  const shown = columns.filter(({ wide }) => output === 'wide' || wide !== true);
  let widths = shown.map(({ title }) => title.length);
  let isFirst = true;
  return (items) => {
    const cells = items.map((item) => tableCells(item, shown));
    const rows = isFirst ? [shown.map(({ title }) => title), ...cells] : cells;
    isFirst = false;
    widths = widths.map((width, at) => Math.max(width, ...rows.map((row) => row[at]?.length ?? 0)));
    out(linesText(alignedLines(rows, widths)));
  };
}
