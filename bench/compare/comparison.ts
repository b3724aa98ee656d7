import { median, medianInterval, percentile } from '../measure/statistics.ts';
import type { RoundResult } from '../measure/round.ts';
import { formatCells } from '../report/table.ts';

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
  'ratio of pairs',
  'MB there',
  'MB here',
];

/**
 * A Markdown table of both checkouts: the least CPU time per request, its lower quartile and its median over the
 * rounds, each with its ratio, which is above 1 where this checkout needs more. Disturbances only ever add CPU time, so
 * the low figures scatter least. The ratio of the pairs has the interval that decides whether a difference is one.
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
      ratioOfPairs(there, here),
      residentMb(there),
      residentMb(here),
    ]),
  );
}

/** The median ratio of the two turns of a round, with its interval: a disturbance that lasts hits both turns. */
function ratioOfPairs(there: readonly RoundResult[], here: readonly RoundResult[]): string {
  const ratios = here.map(({ cpuUsPerRequest }, round) => {
    return cpuUsPerRequest / (there[round]?.cpuUsPerRequest ?? NaN);
  });
  const [low, high] = medianInterval(ratios);
  return `${median(ratios).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

/** Memory at the end, when it does not grow any more. */
function residentMb(rounds: readonly RoundResult[]): string {
  return ((rounds.at(-1)?.residentBytes ?? NaN) / 1e6).toFixed(0);
}
