import { pointerParts } from '../input/json-pointer.ts';
import { UsageError } from '../program/exit-codes.ts';
import { parseSource, type SourceDocument } from './parse-source.ts';
import { nodeAt, placeOf } from './place-of.ts';
import type { Source } from './read-sources.ts';

const KINDS = ['services', 'routes'] as const;
export type Kind = (typeof KINDS)[number];

/** A service or a route as a file has it. The API checks its fields. */
interface Item {
  readonly value: unknown;
  readonly document: SourceDocument;
  readonly node: unknown;
}

/** The services and routes of all files together. */
export interface Manifest {
  /** The environment that the files name, and where. */
  readonly environment: { readonly name: unknown; readonly place: string } | undefined;
  /** Undefined: no file has the kind, so it is not changed. */
  readonly items: Readonly<Record<Kind, readonly Item[] | undefined>>;
}

/** Merges the documents of files. @throws UsageError with the place of each fault */
export function readManifest(sources: readonly Source[]): Manifest {
  const documents = sources.flatMap(parseSource);
  if (documents.length === 0) {
    throw new UsageError(`${sources.map(({ name }) => name).join(', ')}: there is nothing in it`);
  }
  const faults = documents.flatMap(shapeFaults);
  if (faults.length > 0) throw new UsageError(faultText(faults));
  const items = { services: itemsOf(documents, 'services'), routes: itemsOf(documents, 'routes') };
  const environments = documents.flatMap((document) => environmentsOf(document));
  const [environment] = environments;
  const all = [
    ...environments
      .filter(({ name }) => name !== environment?.name)
      .map(({ place }) => `${place}: the environment is another one at ${environment?.place}`),
    ...KINDS.flatMap((kind) => duplicateFaults(kind, items[kind] ?? [])),
  ];
  if (all.length > 0) throw new UsageError(faultText(all));
  return { environment, items };
}

/** Faults on lines of their own; a message has at most 20. */
export function faultText(faults: readonly string[]): string {
  const shown = faults.slice(0, MAX_FAULTS);
  const more = faults.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n  ');
}

const MAX_FAULTS = 20;

/** The place of a field by its JSON pointer into the merged document; undefined if no file has it. */
export function placeInManifest({ items }: Manifest, pointer: string): string | undefined {
  const [kind = '', index = '', ...path] = pointerParts(pointer);
  const item = items[kind as Kind]?.[Number(index)];
  return item && placeOf(item.document, item.node, path);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name of a service or route; undefined if it has none, which the API refuses. */
export function nameOf(value: unknown): string | undefined {
  const name = isObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

const HINTS: Readonly<Record<string, string>> = {
  prune: 'use the option --prune',
  dry_run: 'use gwctl diff',
  if_version: 'it is no setting of a file',
};

/** What keeps a document from being merged with others. */
function shapeFaults(document: SourceDocument): string[] {
  const { value, placeAt } = document;
  if (!isObject(value)) return [`${placeAt(0)}: it must be an object with services and routes`];
  return Object.entries(value).flatMap(([name, given]) => {
    const place = placeOf(document, document.document.contents, [name]);
    if (name === 'environment') return [];
    if (!KINDS.includes(name as Kind)) {
      const hint = HINTS[name] ?? 'a file has environment, services and routes';
      return [`${place}: unknown field ${name}; ${hint}`];
    }
    return Array.isArray(given) ? [] : [`${place}: ${name} must be a list; [] has no items`];
  });
}

function environmentsOf(document: SourceDocument): { name: unknown; place: string }[] {
  const { value } = document;
  if (!isObject(value) || value['environment'] === undefined) return [];
  const place = placeOf(document, document.document.contents, ['environment']);
  return [{ name: value['environment'], place }];
}

function itemsOf(documents: readonly SourceDocument[], kind: Kind): Item[] | undefined {
  const lists = documents.flatMap((document) => {
    const list = isObject(document.value) ? document.value[kind] : undefined;
    return Array.isArray(list) ? [{ document, list: list as unknown[] }] : [];
  });
  if (lists.length === 0) return undefined;
  return lists.flatMap(({ document, list }) =>
    list.map((value, at) => {
      return { value, document, node: nodeAt(document, [kind, String(at)]) };
    }),
  );
}

function duplicateFaults(kind: Kind, items: readonly Item[]): string[] {
  const first = new Map<string, string>();
  return items.flatMap(({ value, document, node }) => {
    const name = nameOf(value);
    if (name === undefined) return [];
    const place = placeOf(document, node, ['name']);
    const before = first.get(name);
    if (before !== undefined) {
      return [`${place}: the ${kind.slice(0, -1)} ${name} is there already, at ${before}`];
    }
    first.set(name, place);
    return [];
  });
}
