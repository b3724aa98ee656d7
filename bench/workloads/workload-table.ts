import type { RoundResult } from '../measure/round.ts';
import { median } from '../measure/statistics.ts';
import { summarize, type Row } from '../report/row.ts';
import { formatCells } from '../report/table.ts';
import type { Workload } from './workload.ts';

/** The rounds of each proxy, by the name of the load and of the proxy. */
export type WorkloadResults = ReadonlyMap<string, ReadonlyMap<string, readonly RoundResult[]>>;

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
      const own = median(rounds.flatMap((round) => round.ownFigure ?? []));
      return { name, row: summarize(peer, rounds, reference), own };
    });
  });
  const cells = rows.map(({ name, row, own }) => [
    name,
    row.name,
    ...(row.failed > 0
      ? [`invalid: ${row.failed} failed`, ...Array<string>(head.length - 3).fill('')]
      : figuresOf(row, ownFigure === undefined ? [] : [ownFigure.format(own)])),
  ]);
  return { table: formatCells(head, cells), failed: rows.some(({ row }) => row.failed > 0) };
}

const figuresOf = (row: Row, own: readonly string[]): readonly string[] => [
  row.requestsPerSecond.toFixed(0),
  row.cpuUsPerRequest.toFixed(1),
  row.ratio.toFixed(2),
  (row.p50Us / 1000).toFixed(2),
  (row.p99Us / 1000).toFixed(2),
  row.residentMb.toFixed(0),
  ...own,
  `${(row.foreignShare * 100).toFixed(0)} %`,
];
