import type { RoundResult } from '../measure/round.ts';
import { median } from '../measure/statistics.ts';
import { summarize, type Row } from '../report/row.ts';
import { formatRows } from '../report/table.ts';
import type { Workload } from './workload.ts';

/** The rounds of a proxy under one load, and those of the reference. */
export interface Measured {
  readonly load: string;
  readonly proxy: string;
  readonly rounds: readonly RoundResult[];
  readonly reference: readonly RoundResult[];
}

type Line = Row & { readonly load: string; readonly own: number };

/** The table of a workload, and whether a request of any row failed. Such a row has no figures. */
export function formatWorkload(
  { unit, ownFigure, reference = 'nginx' }: Pick<Workload, 'unit' | 'ownFigure' | 'reference'>,
  measured: readonly Measured[],
): { readonly table: string; readonly failed: boolean } {
  const lines = measured.map(({ load, proxy, rounds, reference }): Line => {
    const own = median(rounds.flatMap((round) => round.ownFigure ?? []));
    return { ...summarize(proxy, rounds, reference), load, own };
  });
  const figure = (format: (line: Line) => string) => (line: Line) =>
    line.failed > 0 ? '' : format(line);
  const table = formatRows(lines, {
    load: ({ load }) => load,
    row: ({ name }) => name,
    [`${unit}/s`]: (line) =>
      line.failed > 0 ? `invalid: ${line.failed} failed` : line.requestsPerSecond.toFixed(0),
    [`CPU µs/${unit}`]: figure((line) => line.cpuUsPerRequest.toFixed(1)),
    [`× ${reference}`]: figure(ratioOf),
    'p50 ms': figure((line) => (line.p50Us / 1000).toFixed(2)),
    'p99 ms': figure((line) => (line.p99Us / 1000).toFixed(2)),
    'resident MB': figure((line) => line.residentMb.toFixed(0)),
    ...(ownFigure && { [ownFigure.head]: figure(({ own }) => ownFigure.format(own)) }),
    'core lost to others': figure((line) => `${(line.foreignShare * 100).toFixed(0)} %`),
  });
  return { table, failed: lines.some(({ failed }) => failed > 0) };
}

/** With the interval, if there are rounds enough to have one. */
function ratioOf({ ratio, ratioInterval: [low, high] }: Row): string {
  const interval = Number.isNaN(low) ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return ratio.toFixed(2) + interval;
}
