/** The cells of the table of a Markdown page whose head has this column, without the head. */
export function readTable(page: string, column: string): string[][] {
  const tables = page.split(/\n{2,}/).filter((block) => block.startsWith('|'));
  const rowsOf = (table: string) => table.trim().split('\n').map(cellsOf);
  const rows = tables.map(rowsOf).find(([head]) => head?.includes(column));
  if (rows === undefined) throw new Error(`no table has the column ${column}`);
  return rows.slice(2);
}

function cellsOf(line: string): string[] {
  const cells = line.split('|').map((cell) => cell.trim());
  return cells.slice(1, -1);
}
