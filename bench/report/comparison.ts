import { median, percentile } from '../measure/statistics.ts';
import type { RoundResult } from '../measure/round.ts';
import { formatCells } from './table.ts';

/** The rounds of one row in another checkout and in this one. */
export interface Compared {
  readonly name: string;
  readonly there: readonly RoundResult[];
  readonly here: readonly RoundResult[];
}

const FIGURES = {
  least: (values) => Math.min(...values),
  quartile: (values) => percentile(values, 0.25),
  median,
} satisfies Readonly<Record<string, (values: readonly number[]) => number>>;

const HEAD = [
  'row',
  ...Object.keys(FIGURES).flatMap((figure) => [`${figure} µs there`, 'here', 'ratio']),
  'MB there',
  'MB here',
];

/**
 * A Markdown table of both checkouts: the least CPU time per request, its lower quartile and its median over the
 * rounds, each with its ratio, which is above 1 where this checkout needs more. Disturbances only ever add CPU time, so
 * the low figures scatter least.
 */
export function formatComparison(rows: readonly Compared[]): string {
  return formatCells(
    HEAD,
    rows.map(({ name, there, here }) => [
      name,
      ...Object.values(FIGURES).flatMap((figure) => {
        const before = figure(there.map((round) => round.cpuUsPerRequest));
        const after = figure(here.map((round) => round.cpuUsPerRequest));
        return [before.toFixed(1), after.toFixed(1), (after / before).toFixed(3)];
      }),
      residentMb(there),
      residentMb(here),
    ]),
  );
}

/** Memory at the end, when it does not grow any more. */
function residentMb(rounds: readonly RoundResult[]): string {
  return ((rounds.at(-1)?.residentBytes ?? NaN) / 1e6).toFixed(0);
}
