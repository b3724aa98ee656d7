import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Documents } from '../documents.ts';

export interface LinkOptions {
  readonly root: string;
  readonly documents: Documents;
  /** The URL of a file that the site has beside its pages, such as a picture; undefined: it has none. */
  readonly fileUrl: (source: string) => string | undefined;
}

/** Where a link leads: to a page of the site or of another host, or only to a file of the repository, which is named. */
export type LinkTarget =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'repository'; readonly file: string };

/**
 * @param from the file with the link
 * @throws Error if the target does not exist
 */
export function resolveLink(link: string, from: string, options: LinkOptions): LinkTarget {
  if (/^[a-z]+:/.test(link)) return { kind: 'url', url: link };
  const [target = '', anchor] = link.split('#');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  const file = target === '' ? from : path.join(path.dirname(from), target);
  const url = options.documents.get(file)?.url ?? options.fileUrl(file);
  if (url !== undefined) return { kind: 'url', url: url + fragment };
  if (!existsSync(path.join(options.root, file))) {
    throw new Error(`${from} links to ${link}, which does not exist`);
  }
  return { kind: 'repository', file };
}
