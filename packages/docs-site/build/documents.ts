import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The paths of the site on a control plane. */
export const GUIDE = '/docs/guide';
export const REFERENCE = '/docs';
export const ERRORS = '/docs/errors';
/** The page that a control plane answers with where it has none. */
export const NOT_FOUND = '/docs/not-found';

/** The files that are pages of the site, beside all of `docs`. */
const OTHERS: Readonly<Record<string, string>> = {
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'README.md': 'readme',
  'SECURITY.md': 'security',
};

/** A file of the repository that is a page of the site. */
export interface SiteDocument {
  /** In the repository, such as `docs/use/quick-start.md`. */
  readonly source: string;
  /** On a control plane, such as `/docs/guide/use/quick-start`. */
  readonly url: string;
  /** Its first heading. */
  readonly title: string;
  /** Markdown, with its first heading. */
  readonly text: string;
}

/** All documents of the site, by their file. */
export type Documents = ReadonlyMap<string, SiteDocument>;

/** What the site is made of, as globs of the repository. */
export const DOCUMENT_FILES = ['docs/**/*.md', ...Object.keys(OTHERS)];

/**
 * @param root the repository
 * @throws Error that names a file without a heading
 */
export function readDocuments(root: string): Documents {
  const files = globSync(DOCUMENT_FILES, { cwd: root }).toSorted();
  return new Map(files.map((source) => [source, readDocument(root, source)]));
}

function readDocument(root: string, source: string): SiteDocument {
  const text = readFileSync(path.join(root, source), 'utf8');
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${source} has no heading`);
  return { source, url: urlOf(source), title, text };
}

function urlOf(source: string): string {
  if (source === 'docs/README.md') return GUIDE;
  const name = OTHERS[source] ?? source.replace(/^docs\//, '').replace(/\.md$/, '');
  return `${GUIDE}/${name}`;
}
