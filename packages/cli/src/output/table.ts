import type { Style } from './colours.ts';
import { fitColumns } from './fit-columns.ts';
import { printable } from './printable.ts';
import { shortTime } from './short-time.ts';

/** A column of a table. */
export interface Column<Item> {
  readonly title: string;
  /** Only with `-o wide`. */
  readonly wide?: true;
  /** What it means, if it is good, bad or a reason to look. */
  readonly style?: (item: Item) => Style | undefined;
  /** An ISO time, of which a terminal shows less. */
  readonly time?: true;
  /** If lines are longer than those of the terminal, cells are cut to so many characters at least. */
  readonly shrinks?: number;
  /** Cells are cut at their begin: the end of a path says more. */
  readonly keepsEnd?: true;
  /** If lines are still longer, the column is left out; the lowest number first. */
  readonly leftOut?: number;
  of(item: Item): string | number | boolean | null | undefined;
}

/** Where a table is shown. */
export interface Look {
  readonly columns: number;
  readonly unicode: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly nowMs: () => number;
  colour(style: Style, text: string): string;
}

export interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
  readonly keepsEnd?: true | undefined;
}

/** The lines of a table: columns are aligned, and an absent value is a dash. In a terminal they fit its width. */
export function tableLines<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  look: Look,
  isWide = false,
): string[] {
  const shown = columns.filter(({ wide }) => isWide || wide !== true);
  const room = look.stdoutIsTerminal && !isWide ? look.columns : undefined;
  const rows = [headCells(shown), ...items.map((item) => tableCells(item, shown, look, isWide))];
  const { kept, widths } = fitColumns(shown, widthsOf(rows), room);
  return rows.map((row) =>
    cellsLine(
      kept.map((at) => row[at] ?? { text: '' }),
      kept.map((at) => widths[at] ?? 0),
      look,
    ),
  );
}

export function headCells<Item>(columns: readonly Column<Item>[]): Cell[] {
  return columns.map(({ title }) => ({ text: title, style: 'dim' }));
}

/** What an item has in each column. */
export function tableCells<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  look: Look,
  isWide = false,
): Cell[] {
  return columns.map((column) => {
    const value = column.of(item);
    if (value === null || value === undefined || value === '') return { text: '-' };
    const isShort = column.time === true && look.stdoutIsTerminal && !isWide;
    const text = isShort ? shortTime(String(value), look.nowMs()) : String(value);
    return { text: printable(text), style: column.style?.(item), keepsEnd: column.keepsEnd };
  });
}

/** The length of the longest cell of each column, and at least `least`. */
export function widthsOf(
  rows: readonly (readonly Cell[])[],
  least: readonly number[] = [],
): number[] {
  const widths = [...least];
  for (const row of rows) {
    row.forEach(({ text }, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)));
  }
  return widths;
}

/** The cells as a line; one that is longer than its width is cut. */
export function cellsLine(
  cells: readonly Cell[],
  widths: readonly number[],
  look: Pick<Look, 'colour' | 'unicode'>,
): string {
  const lastAt = cells.length - 1;
  const texts = cells.map((cell, at) => {
    const { text, style } = cell;
    const width = widths[at] ?? 0;
    const cut = text.length <= width ? text : cutText(cell, width, look.unicode);
    const padding = at === lastAt ? '' : ' '.repeat(width - cut.length);
    return (style === undefined ? cut : look.colour(style, cut)) + padding;
  });
  return texts.join('  ').trimEnd();
}

function cutText({ text, keepsEnd }: Cell, width: number, unicode: boolean): string {
  const [mark, room] = unicode ? ['…', width - 1] : ['', width];
  return keepsEnd ? mark + text.slice(text.length - room) : text.slice(0, room) + mark;
}

/** The rows with each column as wide as its longest cell. */
export function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((text): Cell => ({ text })));
  const widths = widthsOf(cells);
  return cells.map((row) => cellsLine(row, widths, PLAIN));
}

const PLAIN = { colour: (_style: Style, text: string) => text, unicode: false };
