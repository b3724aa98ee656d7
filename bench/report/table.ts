import type { Row } from './row.ts';

const HEAD = [
  'row',
  'requests/s',
  'CPU µs/request',
  '× nginx',
  'p50 ms',
  'p99 ms',
  'resident MB',
  'core lost to others',
];

/** The rows of the bench as a Markdown table. */
export function formatTable(rows: readonly Row[]): string {
  return formatCells(HEAD, rows.map(cells));
}

/** A Markdown table that is also readable in a terminal. All columns but the first are numbers. */
export function formatCells(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [format(head), format(rule), ...rows.map(format)].join('\n');
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

function cells(row: Row): string[] {
  if (row.failed > 0) {
    return [
      row.name,
      `invalid: ${row.failed} requests without a 2xx response`,
      ...HEAD.slice(2).map(() => ''),
    ];
  }
  return [row.name, ...figuresOf(row), formatShare(row.foreignShare)];
}

/** Requests/s, CPU time, ratio, p50, p99 and memory. */
export function figuresOf(row: Row): readonly string[] {
  return [
    row.requestsPerSecond.toFixed(0),
    row.cpuUsPerRequest.toFixed(1),
    row.ratio.toFixed(2),
    (row.p50Us / 1000).toFixed(2),
    (row.p99Us / 1000).toFixed(2),
    row.residentMb.toFixed(0),
  ];
}

/** As a percentage. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
