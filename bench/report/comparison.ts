import type { RoundResult } from '../measure/round.ts';
import { summarize } from './row.ts';
import { formatCells } from './table.ts';

/** The rounds of one row in another checkout and in this one. */
export interface Compared {
  readonly name: string;
  readonly there: readonly RoundResult[];
  readonly here: readonly RoundResult[];
}

const HEAD = ['row', 'CPU µs there', 'CPU µs here', 'here / there', 'MB there', 'MB here'];

/**
 * A Markdown table of both checkouts. `here / there` is the median over the rounds of each round's own ratio of CPU
 * time per request: above 1 this checkout needs more.
 */
export function formatComparison(rows: readonly Compared[]): string {
  const cells = rows.map(({ name, there, here }) => {
    const before = summarize(name, there, here);
    const after = summarize(name, here, there);
    return [
      name,
      before.cpuUsPerRequest.toFixed(1),
      after.cpuUsPerRequest.toFixed(1),
      after.ratio.toFixed(3),
      before.residentMb.toFixed(0),
      after.residentMb.toFixed(0),
    ];
  });
  return formatCells(HEAD, cells);
}
