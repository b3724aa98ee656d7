import { ERRORS, GUIDE, NOT_FOUND, REFERENCE } from './documents.ts';
import type { PageContent } from './page/page.ts';

/** What a browser gets where there is no page: the navigation and the search are on it. */
export const NOT_FOUND_PAGE: Omit<PageContent, 'navigation'> = {
  title: 'Page not found',
  url: NOT_FOUND,
  part: 'guide',
  main: `<h1>Page not found</h1>
<p>The documentation has no page at this address. Press <kbd>/</kbd> to search for it, or begin here:</p>
<ul>
<li><a href="${GUIDE}">Guide</a></li>
<li><a href="${REFERENCE}">API reference</a></li>
<li><a href="${ERRORS}">Error codes</a></li>
</ul>`,
  contents: [],
};
