import path from 'node:path';
import type { Documents } from './documents.ts';

/** A page in the navigation, and those that belong to it. */
export interface NavigationEntry {
  readonly label: string;
  readonly url: string;
  readonly children: readonly NavigationEntry[];
}

export interface NavigationSection {
  readonly label: string;
  readonly entries: readonly NavigationEntry[];
}

const INDEX = 'docs/README.md';
const ENTRY = /^- \[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)/gm;
const LINK = /\]\(([^)#\s]+)/g;
/** Their entries in the index have numbers for names. */
const DECISIONS = 'docs/adr/';

/**
 * The navigation: the sections and entries of docs/README.md, in its order. The pages of a folder beside a page of its name belong
 * to that page, in the order in which it names them.
 */
export function readNavigation(documents: Documents): readonly NavigationSection[] {
  const index = documents.get(INDEX)?.text ?? '';
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      label: part.split('\n')[0] ?? '',
      entries: [...part.matchAll(ENTRY)]
        .map(([, label = '', link = '']) => ({ label, source: path.join('docs', link) }))
        .filter(({ source }) => !isChild(source, documents))
        .flatMap(({ label, source }) => entryOf(label, source, documents)),
    }));
}

function entryOf(label: string, source: string, documents: Documents): readonly NavigationEntry[] {
  const document = documents.get(source);
  if (document === undefined) return [];
  const { url, title } = document;
  const named = source.startsWith(DECISIONS) ? title.replace(':', '') : label;
  return [{ label: named, url, children: childrenOf(source, documents) }];
}

function childrenOf(source: string, documents: Documents): readonly NavigationEntry[] {
  const folder = `${source.replace(/\.md$/, '')}/`;
  const present = [...documents.keys()].filter((one) => one.startsWith(folder));
  const text = documents.get(source)?.text ?? '';
  const named = [...text.matchAll(LINK)]
    .map(([, link = '']) => path.join(path.dirname(source), link))
    .filter((one) => present.includes(one));
  const ordered = new Set([...named, ...present]);
  return [...ordered].flatMap((one) => entryOf(documents.get(one)?.title ?? '', one, documents));
}

function isChild(source: string, documents: Documents): boolean {
  return documents.has(`${path.dirname(source)}.md`);
}
