import { countText } from '@gateway/client/measures';
import type { components } from '@gateway/client';
import type { NameOf } from '../../lookup/resource-names.ts';
import { printable } from '../../output/printable.ts';
import { alignedLines } from '../../output/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { optionalMs, percentText, shareText } from './statistics-lines.ts';

type Statistics = components['schemas']['Statistics'];

/**
 * A row for each version of a route, status or service, those with the most requests first.
 * @param by what a row stands for
 */
export function groupLines(
  by: string,
  { groups, total }: Statistics,
  nameOf: NameOf,
  { colour }: Pick<Terminal, 'colour'>,
): string[] {
  const [heading = '', ...rows] = alignedLines([
    [by.toUpperCase(), 'REQUESTS', 'PART', 'ERRORS', 'SHARE', 'P50', 'P95', 'P99'],
    ...groups.map((group) => [
      printable(nameOf(group.value) ?? 'none'),
      countText(group.requests).padStart('REQUESTS'.length),
      percentText(group.requests, total.requests),
      countText(group.errors).padStart('ERRORS'.length),
      shareText(group),
      ...[group.p50_ms, group.p95_ms, group.p99_ms].map(optionalMs),
    ]),
  ]);
  return [colour('dim', heading), ...rows];
}
