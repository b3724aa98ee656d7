import { itemText } from './data-text.ts';
import { fitColumns, type Fitted } from './fit-columns.ts';
import { columnsOf, isData, type Output } from './formats.ts';
import { linesText } from './print.ts';
import { cellsLine, headCells, tableCells, widthsOf, type Column, type Look } from './table.ts';

/**
 * Prints items that come one after the other: lines of a table, a line of JSON for each, or a YAML document for each.
 * A column of the table becomes wider when an item needs it, within the lines of a terminal.
 */
export function recordPrinter<Item>(
  columns: readonly Column<Item>[],
  output: Output,
  look: Look,
  out: (text: string) => void,
): (items: readonly Item[]) => Promise<void> {
  const own = columnsOf(output);
  if (own !== undefined) return tablePrinter(own, true, look, out);
  if (isData(output)) {
    return async (items) => {
      for (const item of items) out(await itemText(item, output));
    };
  }
  return tablePrinter(columns, output === 'wide', look, out);
}

/** @param isWide whether lines may be longer than those of the terminal */
function tablePrinter<Item>(
  columns: readonly Column<Item>[],
  isWide: boolean,
  look: Look,
  out: (text: string) => void,
): (items: readonly Item[]) => Promise<void> {
  const shown = columns.filter(({ wide }) => isWide || wide !== true);
  const room = look.stdoutIsTerminal && !isWide ? look.columns : undefined;
  let wanted = widthsOf([headCells(shown)]);
  let first: Fitted | undefined;
  return (items) => {
    const cells = items.map((item) => tableCells(item, shown, look, isWide));
    const rows = first === undefined ? [headCells(shown), ...cells] : cells;
    wanted = widthsOf(rows, wanted);
    const fitted = fitColumns(shown, wanted, room);
    // Columns do not come and go below a heading.
    const { kept } = (first ??= fitted);
    const lines = rows.map((row) =>
      cellsLine(
        kept.map((at) => row[at] ?? { text: '' }),
        kept.map((at) => fitted.widths[at] ?? 0),
        look,
      ),
    );
    out(linesText(lines));
    return Promise.resolve();
  };
}
