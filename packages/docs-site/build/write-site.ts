import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { createAssetFiles } from './assets/asset-files.ts';
import { writeScripts } from './assets/scripts.ts';
import { writeStyles } from './assets/styles.ts';
import { GUIDE, readDocuments, type Documents, type SiteDocument } from './documents.ts';
import { renderErrors } from './errors-page.ts';
import { NOT_FOUND_PAGE } from './not-found-page.ts';
import { renderMarkdown, type RenderedMarkdown } from './markdown/render-markdown.ts';
import { readNavigation } from './navigation.ts';
import { renderPage, type PageContent, type PageFiles } from './page/page.ts';
import { referencePages } from './reference/reference-pages.ts';
import { searchEntries, type SearchEntry } from './search/search-entries.ts';

/** Sections below the heading of a page that stand in the list beside it. */
const LISTED_LEVEL = 2;

/**
 * Writes the site into a folder, whose paths are those of URLs: the guide from the documents of the repository, the reference from
 * the OpenAPI document, and the page of errors.
 *
 * @throws Error that names a link without a target
 */
export async function writeSite(root: string, draft: string): Promise<void> {
  const documents = readDocuments(root);
  const assets = createAssetFiles(draft);
  const pictures = path.join(root, 'docs/images');
  const fileUrl = (source: string) => {
    const file = path.join(root, source);
    return file.startsWith(pictures) && existsSync(file) ? assets.copy(file) : undefined;
  };
  const rendered = new Map(
    [...documents.values()].map((document) => {
      const { text, source } = document;
      return [document, renderMarkdown(text, source, { root, documents, fileUrl })] as const;
    }),
  );
  const reference = referencePages(root);
  const errors = renderErrors();
  const entries: readonly SearchEntry[] = [
    ...[...rendered].flatMap(([document, { parts }]) => searchEntries(document, parts)),
    ...reference.flatMap((page) => page.entries),
    ...errors.entries,
  ];
  const scripts = await writeScripts(assets);
  const files: PageFiles = {
    ...writeStyles(assets),
    themeScript: scripts.theme,
    script: scripts.site,
    searchIndex: assets.write('search.json', JSON.stringify(entries)),
  };
  const pages = [
    ...guidePages(rendered, documents),
    ...reference.map(({ content }) => ({ ...content, moreScript: scripts.tryCall })),
    { ...errors.content, navigation: reference[0]?.content.navigation ?? [] },
    { ...NOT_FOUND_PAGE, navigation: readNavigation(documents) },
  ];
  for (const page of pages) writePage(draft, page.url, renderPage(page, files));
}

function guidePages(
  rendered: ReadonlyMap<SiteDocument, RenderedMarkdown>,
  documents: Documents,
): readonly PageContent[] {
  const navigation = readNavigation(documents);
  return [...rendered].map(([{ title, url }, { html, headings }]) => ({
    title: url === GUIDE ? 'Guide' : title,
    url,
    part: 'guide',
    navigation,
    // On the first page each entry is a card, of which its description is a line of its own.
    main: url === GUIDE ? html.replaceAll('</a>: ', '</a> ') : html,
    contents: headings.filter(({ level }) => level === LISTED_LEVEL),
  }));
}

function writePage(draft: string, url: string, html: string): void {
  // A page is beside the folder of the pages below it: a browser asks for it without a slash at the end.
  const file = path.join(draft, `${url}.html`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, html);
}
