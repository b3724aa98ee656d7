import { Document, isMap, isPair, isScalar, isSeq, YAMLMap } from 'yaml';
import { printable } from '../output/printable.ts';
import type { Conversion, Draft, Remark } from './draft.ts';

const LABELS = { missing: 'NOT CONVERTED', different: 'DIFFERENT', note: 'NOTE' } as const;

/** One line that says what a remark says, without control characters. */
export function remarkLine({ kind, place, text }: Remark): string {
  return printable(`${LABELS[kind]} ${place}: ${text}`);
}

/** The order of the fields of a route and of a service in the file; others follow. */
const ORDER = [
  'name',
  'service',
  'respond',
  'redirect',
  'mirror',
  'url',
  'upstreams',
  'match',
  'methods',
  'rewrite',
  'locations',
  'auth',
  'cors',
  'affinity',
  'rate_limit',
];

/** What a conversion becomes: a file for `gwctl apply`, and its remarks in the order of the file. */
export interface Written {
  readonly yaml: string;
  readonly remarks: readonly Remark[];
}

/**
 * Writes a conversion. Each remark is a comment where the thing would stand.
 *
 * @param head lines that begin the file, without marks
 */
export function writeFiles(
  conversion: Conversion,
  head: readonly string[],
  environment: string | undefined,
): Written {
  const { services, routes } = conversion;
  const onFile = conversion.fileRemarks();
  const content = {
    ...(environment !== undefined && { environment }),
    services: services.filter(isWritten).map(valueOf),
    routes: routes.filter(isWritten).map(valueOf),
  };
  const document = new Document(content, { aliasDuplicateObjects: false });
  document.commentBefore = comment([...head, ...onFile.map(remarkLine)]);
  const contents = document.contents;
  const lists = [services, routes].map((drafts, at) => {
    const list: unknown = isMap(contents)
      ? contents.get(at === 0 ? 'services' : 'routes', true)
      : 0;
    addComments(list, drafts);
    return drafts.flatMap(remarksOf);
  });
  return {
    yaml: document.toString({ lineWidth: 0 }),
    remarks: [...onFile, ...lists.flat()],
  };
}

const isWritten = ({ leftOut }: Draft): boolean => leftOut === undefined;

function valueOf({ name, fields }: Draft): Readonly<Record<string, unknown>> {
  const rank = ([field]: readonly [string, unknown]) =>
    (ORDER.indexOf(field) + ORDER.length + 1) % (ORDER.length + 1);
  const sorted = [...fields].sort((one, other) => rank(one) - rank(other));
  return { name, ...Object.fromEntries(sorted) };
}

/** The remarks of a draft; one that is left out begins with the reason. */
function remarksOf(draft: Draft): readonly Remark[] {
  if (draft.leftOut === '') return [];
  if (draft.leftOut === undefined) return draft.remarks;
  const text = `${draft.name}: ${draft.leftOut}`;
  return [{ kind: 'missing', place: draft.place, text }, ...draft.remarks];
}

function addComments(list: unknown, drafts: readonly Draft[]): void {
  if (!isSeq(list)) return;
  let before: string[] = [];
  let at = 0;
  for (const draft of drafts) {
    if (!isWritten(draft)) {
      before.push(...remarksOf(draft).map(remarkLine));
      continue;
    }
    const item = list.items[at];
    at += 1;
    if (!(item instanceof YAMLMap)) continue;
    if (before.length > 0) item.commentBefore = comment(before);
    before = [];
    addFieldComments(item, draft);
  }
  if (before.length > 0) list.comment = comment(before);
}

function addFieldComments(item: YAMLMap, { remarks }: Draft): void {
  const end: string[] = [];
  for (const [field, own] of grouped(remarks)) {
    const lines = own.map(remarkLine);
    const pair = item.items.find(({ key }) => isScalar(key) && key.value === field);
    if (pair !== undefined && isPair(pair) && isScalar(pair.key))
      pair.key.commentBefore = comment(lines);
    else end.push(...lines);
  }
  if (end.length > 0) item.comment = comment(end);
}

function grouped(remarks: Draft['remarks']): Map<string, Remark[]> {
  const groups = new Map<string, Remark[]>();
  for (const remark of remarks) {
    const field = remark.field ?? '';
    groups.set(field, [...(groups.get(field) ?? []), remark]);
  }
  return groups;
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line}`).join('\n');
}
