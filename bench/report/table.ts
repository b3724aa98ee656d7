/** A Markdown table that is also readable in a terminal. All columns but the first are numbers. */
export function formatCells(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const format = (line: readonly string[]) => `| ${line.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [format(head), format(rule), ...rows.map(format)].join('\n');
}

/** A table whose columns are a head and the cell that each row has there. */
export function formatRows<R>(
  rows: readonly R[],
  columns: Readonly<Record<string, (row: R) => string>>,
): string {
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  return formatCells(Object.keys(columns), cells);
}
