import type { RoundResult } from '../measure/round.ts';
import { summarize, type Row } from '../report/row.ts';
import { formatCells } from '../report/table.ts';
import type { WorkloadResults } from './measure-workload.ts';
import type { Workload } from './workload.ts';

/** The table of a workload, and whether a request of any row failed. Such a row has no figures. */
export function formatWorkload(
  { unit, loads }: Pick<Workload, 'unit' | 'loads'>,
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
    'core lost to others',
  ];
  const rows = loads.flatMap(({ name }) => {
    const peers = results.get(name) ?? new Map<string, RoundResult[]>();
    const [reference = []] = peers.values();
    return [...peers].map(([peer, rounds]) => ({ name, row: summarize(peer, rounds, reference) }));
  });
  return {
    table: formatCells(
      head,
      rows.map(({ name, row }) => [name, row.name, ...figures(row, head.length - 2)]),
    ),
    failed: rows.some(({ row }) => row.failed > 0),
  };
}

function figures(row: Row, columns: number): string[] {
  if (row.failed > 0) {
    return [`invalid: ${row.failed} failed`, ...Array<string>(columns - 1).fill('')];
  }
  return [
    row.requestsPerSecond.toFixed(0),
    row.cpuUsPerRequest.toFixed(1),
    row.ratio.toFixed(2),
    (row.p50Us / 1000).toFixed(2),
    (row.p99Us / 1000).toFixed(2),
    row.residentMb.toFixed(0),
    `${(row.foreignShare * 100).toFixed(0)} %`,
  ];
}
