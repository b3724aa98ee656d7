import type { components } from '@gateway/client';
import { printable } from '../../output/printable.ts';
import { alignedLines } from '../../output/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { optionalMs, percentText, shareText } from './statistics-lines.ts';

type Statistics = components['schemas']['Statistics'];

/** A row for each version of a route, or for each class of status, those with the most requests first. */
export function groupLines(
  by: 'version' | 'status',
  { groups, total }: Statistics,
  { colour }: Pick<Terminal, 'colour'>,
): string[] {
  const [heading = '', ...rows] = alignedLines([
    [by.toUpperCase(), 'REQUESTS', 'PART', 'ERRORS', 'SHARE', 'P50', 'P95', 'P99'],
    ...groups.map((group) => [
      group.value === null ? 'none' : printable(group.value),
      String(group.requests).padStart('REQUESTS'.length),
      percentText(group.requests, total.requests),
      String(group.errors).padStart('ERRORS'.length),
      shareText(group),
      ...[group.p50_ms, group.p95_ms, group.p99_ms].map(optionalMs),
    ]),
  ]);
  return [colour('dim', heading), ...rows];
}
