import { GUIDE, REFERENCE } from '../documents.ts';
import type { NavigationEntry, NavigationSection } from '../navigation.ts';
import { escapeHtml } from './html.ts';

/** The URLs of the files that every page loads. */
export interface PageFiles {
  readonly styles: string;
  /** Sets the theme before anything is shown. */
  readonly themeScript: string;
  readonly script: string;
  /** What the search finds. */
  readonly searchIndex: string;
  readonly font: string;
}

export interface PageContent {
  readonly title: string;
  readonly url: string;
  /** Which of the two parts of the site the page belongs to. */
  readonly part: 'guide' | 'reference';
  readonly navigation: readonly NavigationSection[];
  /** The HTML of the page itself, with its heading. */
  readonly main: string;
  /** The sections of the page, for the list beside it. */
  readonly contents: readonly { readonly text: string; readonly anchor: string }[];
  /** The module that the page loads besides. */
  readonly moreScript?: string;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%234f56d3'/%3E%3Cpath d='M7 16h16m-6-6 6 6-6 6' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E";
const MARK =
  '<svg class="mark" width="20" height="20" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M7 16h16m-6-6 6 6-6 6"/></svg>';
const PARTS = [
  { part: 'guide', label: 'Guide', url: GUIDE },
  { part: 'reference', label: 'API reference', url: REFERENCE },
] as const;

function icon(path: string): string {
  return `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
}

/** A whole page. It loads only files of its own server, and has no script and no style in it. */
export function renderPage(content: PageContent, files: PageFiles): string {
  const { title, main, contents, moreScript } = content;
  const more =
    moreScript === undefined ? '' : `\n    <script type="module" src="${moreScript}"></script>`;
  return `<!doctype html>
<html lang="en" data-search-index="${files.searchIndex}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escapeHtml(title)} · Gateway</title>
    <link rel="icon" href="${ICON}" />
    <link rel="preload" as="font" type="font/woff2" href="${files.font}" crossorigin />
    <link rel="stylesheet" href="${files.styles}" />
    <script src="${files.themeScript}"></script>
    <script type="module" src="${files.script}"></script>${more}
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    ${header(content)}
    <div class="columns ${content.part}">
      ${sidebar(content)}
      <main id="content" tabindex="-1">
        <article class="prose${content.url === GUIDE ? ' home' : ''}">
${main}
        </article>
      </main>
      ${content.part === 'guide' ? contentsList(contents) : ''}
    </div>
  </body>
</html>
`;
}

function header({ part }: PageContent): string {
  const links = PARTS.map(({ part: one, label, url }) => {
    const current = one === part ? ' aria-current="true"' : '';
    return `<a href="${url}"${current}>${label}</a>`;
  });
  return `<header class="bar">
      <button class="icon menu" type="button" popovertarget="navigation" aria-label="Pages">${icon('M2.5 4h11M2.5 8h11M2.5 12h11')}</button>
      <a class="brand" href="${GUIDE}">${MARK}Gateway</a>
      <nav class="parts" aria-label="Parts">${links.join('')}</nav>
      <button class="search-button" type="button" data-search hidden><span>Search</span><kbd>/</kbd></button>
      <button class="icon" type="button" data-theme-switch hidden aria-label="Change the theme">${icon('M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12')}</button>
      <a class="console" href="/console">Console</a>
    </header>`;
}

function sidebar({ navigation, url }: PageContent): string {
  const sections = navigation.map(({ label, entries }) => {
    const isOpen = entries.some((one) => holds(one, url));
    const list = `<ul>${entries.map((entry) => navigationItem(entry, url)).join('')}</ul>`;
    // Long lists that are read from one page to the next are folded elsewhere.
    if (entries.length > MAX_UNFOLDED && !isOpen) {
      return `<details><summary>${escapeHtml(label)}</summary>${list}</details>`;
    }
    return `<h2>${escapeHtml(label)}</h2>${list}`;
  });
  return `<nav id="navigation" popover aria-label="Pages">${sections.join('')}</nav>`;
}

const MAX_UNFOLDED = 40;

function holds({ url, children }: NavigationEntry, page: string): boolean {
  return url === page || children.some((one) => holds(one, page));
}

function navigationItem(entry: NavigationEntry, page: string): string {
  const current = entry.url === page ? ' aria-current="page"' : '';
  const isOpen = holds(entry, page) && entry.children.length > 0;
  const children = isOpen
    ? `<ul>${entry.children.map((one) => navigationItem(one, page)).join('')}</ul>`
    : '';
  return `<li><a href="${entry.url}"${current}>${escapeHtml(entry.label)}</a>${children}</li>`;
}

function contentsList(contents: PageContent['contents']): string {
  if (contents.length < 2) return '<div class="contents"></div>';
  const items = contents.map(
    ({ text, anchor }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`;
}
