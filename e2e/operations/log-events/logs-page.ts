import { EXCEPTION_FIELDS, logFieldName } from '@gateway/shared/telemetry/log-fields';
import type { LogEvent } from './find-log-events.ts';

export const LOGS_PAGE = new URL('../../../docs/run/logs.md', import.meta.url);
const MARK = '<!-- npm run generate writes what follows. -->';

const SECTIONS = [
  ['Both planes', 'shared'],
  ['Control plane', 'control-plane'],
  ['Data plane', 'data-plane'],
] as const;

/** Replaces the list of events, which follows the mark. */
export function withEvents(page: string, events: readonly LogEvent[]): string {
  const [before, generated] = page.split(MARK);
  if (generated === undefined) throw new Error('docs/run/logs.md has no mark for its events');
  const sections = SECTIONS.map(([heading, name]) => {
    const own = events.filter(({ place }) => place.split('/')[0] === name);
    return `### ${heading}\n\n${tableOf(own)}\n`;
  });
  return `${before}${MARK}\n\n${sections.join('\n')}`;
}

function tableOf(events: readonly LogEvent[]): string {
  const merged = new Map<string, { level: string; place: string; fields: Set<string> }>();
  for (const { message, level, place, fields } of events) {
    const folder = place.split('/')[1] ?? '';
    const row = merged.get(`${level} ${message}`) ?? { level, place: folder, fields: new Set() };
    for (const field of fields) row.fields.add(field);
    merged.set(`${level} ${message}`, row);
  }
  const rows = [...merged].map(([key, { level, place, fields }]) => [
    key.slice(level.length + 1).replaceAll('|', String.raw`\|`),
    level.toUpperCase(),
    place === '' ? '' : `\`${place}\``,
    [...fields].flatMap(namesOf).join(', '),
  ]);
  return alignedTable([['event', 'severity', 'folder', 'fields'], ...rows]);
}

function namesOf(field: string): string[] {
  if (field === 'err') return EXCEPTION_FIELDS.map((name) => `\`${name}\``);
  return [`\`${logFieldName(field)}\``];
}

/** A table with columns of equal width, as the formatter writes it. */
function alignedTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_none, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = lineOf(widths.map((width) => '-'.repeat(width)));
  const [head = [], ...body] = rows;
  return [lineOf(head), rule, ...body.map(lineOf)].join('\n');
}
