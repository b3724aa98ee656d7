import { median, medianInterval, percentile } from '../measure/statistics.ts';
import type { RoundResult } from '../measure/round.ts';
import { formatRows } from '../report/table.ts';

/** The rounds of one row in another checkout and in this one. */
export interface Compared {
  readonly name: string;
  readonly there: readonly RoundResult[];
  readonly here: readonly RoundResult[];
}

type Figure = (values: readonly number[]) => number;

const figureOf = (rounds: readonly RoundResult[], figure: Figure) =>
  figure(rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest));

/** The columns of a figure. */
function both(name: string, figure: Figure) {
  return {
    [`${name} µs there`]: ({ there }: Compared) => figureOf(there, figure).toFixed(1),
    [`${name} µs here`]: ({ here }: Compared) => figureOf(here, figure).toFixed(1),
    [`${name} ratio`]: ({ there, here }: Compared) =>
      (figureOf(here, figure) / figureOf(there, figure)).toFixed(3),
  };
}

/**
 * A Markdown table of both checkouts: the lower quartile and the median of the CPU time per request over the rounds, each
 * with its ratio, which is above 1 where this checkout needs more. Disturbances only ever add CPU time, so the quartile
 * scatters least. The ratio of the pairs has the interval that decides whether a difference is one.
 */
export function formatComparison(rows: readonly Compared[]): string {
  return formatRows(rows, {
    row: ({ name }) => name,
    ...both('quartile', (values) => percentile(values, 0.25)),
    ...both('median', median),
    'ratio of pairs': ({ there, here }) => ratioOfPairs(there, here),
    'MB there': ({ there }) => residentMb(there),
    'MB here': ({ here }) => residentMb(here),
  });
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
