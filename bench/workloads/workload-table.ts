import type { RoundResult } from '../measure/round.ts';
import { median } from '../measure/statistics.ts';
import { summarize, type Row } from '../report/row.ts';
import { figuresOf, formatCells, formatShare } from '../report/table.ts';
import type { WorkloadResults } from './measure-workload.ts';
import type { Workload } from './workload.ts';

/** The table of a workload, and whether a request of any row failed. Such a row has no figures. */
export function formatWorkload(
  { unit, loads, ownFigure }: Pick<Workload, 'unit' | 'loads' | 'ownFigure'>,
  results: WorkloadResults,
): { readonly table: string; readonly failed: boolean } {
  const head = [
    'load',
    'row',
    `${unit}/s`,
    `CPU µs/${unit}`,
    '× nginx',
    'p50 ms',
    'p99 ms',
    'resident MB',
    ...(ownFigure === undefined ? [] : [ownFigure.head]),
    'core lost to others',
  ];
  const rows = loads.flatMap(({ name }) => {
    const peers = results.get(name) ?? new Map<string, RoundResult[]>();
    const [reference = []] = peers.values();
    return [...peers].map(([peer, rounds]) => {
      const own = rounds.flatMap((round) => round.ownFigure ?? []);
      return { name, row: summarize(peer, rounds, reference), own: median(own) };
    });
  });
  return {
    table: formatCells(
      head,
      rows.map(({ name, row, own }) => [
        name,
        row.name,
        ...figures(row, head.length - 2, ownFigure?.format(own)),
      ]),
    ),
    failed: rows.some(({ row }) => row.failed > 0),
  };
}

function figures(row: Row, columns: number, own: string | undefined): string[] {
  if (row.failed > 0) {
    return [`invalid: ${row.failed} failed`, ...Array<string>(columns - 1).fill('')];
  }
  return [...figuresOf(row), ...(own === undefined ? [] : [own]), formatShare(row.foreignShare)];
}
