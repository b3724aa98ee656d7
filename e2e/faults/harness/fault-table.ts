import type { FaultRow } from './scenario.ts';

const HEAD = [
  'fault',
  'lasted s',
  'requests',
  'failed',
  'keys refused',
  'records lost',
  's to recover',
  'also',
];
const TEXT_COLUMNS = new Set([0, HEAD.length - 1]);

/** The rows as a Markdown table, aligned for terminals. */
export function formatFaultTable(rows: readonly FaultRow[]): string {
  return format(rows.map(cells));
}

/**
 * The table in which these rows replace the rows of the same faults.
 *
 * @param table the former table; any other text counts as an empty table
 * @param order all faults in order; rows of other faults are removed
 */
export function mergeFaultTable(
  table: string,
  rows: readonly FaultRow[],
  order: readonly string[],
): string {
  const [, , ...lines] = table.split('\n').filter((line) => line.startsWith('|'));
  const before = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const byFault = new Map([...before, ...rows.map(cells)].map((line) => [line[0] ?? '', line]));
  return format(order.map((fault) => byFault.get(fault)).filter((line) => line !== undefined));
}

function format(rows: readonly (readonly string[])[]): string {
  const lines = [HEAD, ...rows];
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return TEXT_COLUMNS.has(column) ? cell.padEnd(width) : cell.padStart(width);
  };
  const rule = widths.map((width, column) =>
    TEXT_COLUMNS.has(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const joined = (line: readonly string[]) => `| ${line.join(' | ')} |`;
  return [joined(HEAD.map(pad)), joined(rule), ...rows.map((line) => joined(line.map(pad)))].join(
    '\n',
  );
}

function cells(row: FaultRow): string[] {
  return [
    row.fault,
    row.lastedSeconds?.toFixed(0) ?? '',
    String(row.requests),
    String(row.failed),
    String(row.keysRefused),
    String(row.recordsLost),
    row.recoverySeconds?.toFixed(1) ?? '',
    row.note ?? '',
  ];
}
