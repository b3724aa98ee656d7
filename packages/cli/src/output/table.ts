import { printable } from './printable.ts';

/** A column of a table. */
export interface Column<Item> {
  readonly title: string;
  /** Only with `-o wide`. */
  readonly wide?: true;
  of(item: Item): string | number | boolean | null | undefined;
}

/** The lines of a table: columns are aligned, and an absent value is a dash. */
export function tableLines<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
): string[] {
  const rows = items.map((item) => tableCells(item, columns));
  return alignedLines([columns.map(({ title }) => title), ...rows]);
}

/** What an item has in each column. */
export function tableCells<Item>(item: Item, columns: readonly Column<Item>[]): string[] {
  return columns.map((column) => cell(column.of(item)));
}

/** The rows with each column as wide as its longest cell, and at least as wide as `minWidths`. */
export function alignedLines(
  rows: readonly (readonly string[])[],
  minWidths: readonly number[] = [],
): string[] {
  const widths = [...minWidths];
  for (const row of rows) {
    row.forEach((text, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)));
  }
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function cell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-';
  return printable(String(value));
}
