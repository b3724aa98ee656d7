import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
} from 'yaml';
import { placeText, yamlFault } from '../input/yaml-fault.ts';
import { UsageError } from '../program/exit-codes.ts';
import type { Source } from './read-sources.ts';

/** A YAML document of a file. It keeps where each of its nodes stands. */
export interface SourceDocument {
  readonly document: Document.Parsed;
  readonly value: unknown;
  readonly placeAt: (offset: number) => string;
}

/** Enough to share settings between thousands of routes, and few enough to stop a bomb of nested aliases. */
const MAX_ALIASES = 10_000;

/** The documents of a file that are not empty. @throws UsageError with the place of the first fault */
export function parseSource({ name, text }: Source): readonly SourceDocument[] {
  const lineCounter = new LineCounter();
  const placeAt = (offset: number) => placeText(name, lineCounter, offset);
  const documents = parseAllDocuments(text, {
    lineCounter,
    prettyErrors: false,
    stringKeys: true,
    merge: true,
  });
  // No document at all: the file is empty or has comments only.
  if (!Array.isArray(documents)) return [];
  return documents
    .map((document): SourceDocument => {
      const [error] = [...document.errors, ...document.warnings];
      if (error) throw new UsageError(yamlFault(name, lineCounter, error));
      return { document, value: valueOf(document, placeAt), placeAt };
    })
    .filter(({ value }) => value !== null);
}

function valueOf(document: Document.Parsed, placeAt: (offset: number) => string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (error) {
    if (error instanceof ReferenceError) throw new UsageError(aliasFault(document, placeAt));
    const fault = mergeFault(document, placeAt);
    throw fault === undefined ? error : new UsageError(fault, { cause: error });
  }
}

/** Why the aliases of a document cannot be replaced: one has no anchor, or there are too many. */
function aliasFault(document: Document.Parsed, placeAt: (offset: number) => string): string {
  const anchors = new Set<string>();
  let fault = '';
  visit(document, {
    Alias(_key, { source, range }) {
      const place = placeAt(range?.[0] ?? 0);
      fault = `${place}: too many aliases, or an alias within its own anchor`;
      if (anchors.has(source)) return undefined;
      fault = `${place}: there is no anchor &${source} before this alias`;
      return visit.BREAK;
    },
    Value(_key, { anchor }) {
      if (anchor !== undefined) anchors.add(anchor);
    },
  });
  return fault;
}

/** Where something is merged that is no object; undefined: nowhere. */
function mergeFault(
  document: Document.Parsed,
  placeAt: (offset: number) => string,
): string | undefined {
  let fault: string | undefined;
  visit(document, {
    Pair(_key, { key, value }) {
      const sources = isSeq(value) ? value.items : [value];
      const isMerge = isScalar(key) && (key.value === '<<' || typeof key.value === 'symbol');
      const isObject = (one: unknown) => isMap(isAlias(one) ? one.resolve(document) : one);
      if (!isMerge || sources.every(isObject)) return undefined;
      fault = `${placeAt(key.range?.[0] ?? 0)}: only objects can be merged`;
      return visit.BREAK;
    },
  });
  return fault;
}
