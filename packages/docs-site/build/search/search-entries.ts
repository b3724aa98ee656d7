import type { SiteDocument } from '../documents.ts';
import type { PagePart } from '../markdown/render-markdown.ts';

/** What the search finds: a part of a page, or an operation of the API. */
export interface SearchEntry {
  readonly url: string;
  /** Of the page. */
  readonly page: string;
  /** Of the part; empty: the beginning of the page. */
  readonly heading: string;
  readonly text: string;
  /** How much a match counts; 1 if left out. */
  readonly weight?: number;
}

/** Of code and tables, which are found by their names and not by all that follows. */
const MAX_TEXT_CHARS = 2000;
const DECISION_CHARS = 400;
const DECISION_WEIGHT = 0.3;
const CONTRIBUTE_WEIGHT = 0.5;

/** The entries of a document. Decisions are found by their headings and beginnings, because pages say what came of them. */
export function searchEntries(
  { source, title, url }: SiteDocument,
  parts: readonly PagePart[],
): readonly SearchEntry[] {
  const isDecision = source.startsWith('docs/adr/');
  const kept = isDecision ? parts.slice(0, 1) : parts;
  const weight = isDecision ? DECISION_WEIGHT : CONTRIBUTED.test(source) ? CONTRIBUTE_WEIGHT : 1;
  const entries = kept.map(({ heading, text }) => ({
    url: heading === undefined ? url : `${url}#${heading.anchor}`,
    page: title,
    heading: isDecision ? '' : (heading?.text ?? ''),
    text: text
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, isDecision ? DECISION_CHARS : MAX_TEXT_CHARS),
    ...(weight !== 1 && { weight }),
  }));
  // A page whose text begins with a heading is found by its title.
  const begins = entries.some((one) => one.url === url);
  return begins ? entries : [{ url, page: title, heading: '', text: '' }, ...entries];
}

const CONTRIBUTED = /^docs\/contribute\/|^CONTRIBUTING|^CHANGELOG/;
