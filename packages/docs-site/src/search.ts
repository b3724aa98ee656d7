import MiniSearch, { type SearchResult } from 'minisearch';
import { isPageCalled } from './page-called.ts';
import { excerptOf } from './search-excerpt.ts';

interface Entry {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  readonly weight?: number;
}

const MAX_RESULTS = 20;

let parts: Promise<SearchParts> | undefined;

interface SearchParts {
  readonly entries: readonly Entry[];
  readonly index: MiniSearch;
}

async function load(): Promise<SearchParts> {
  const response = await fetch(document.documentElement.dataset['searchIndex'] ?? '');
  if (!response.ok) throw new Error(`the index was answered with ${response.status}`);
  const entries = (await response.json()) as readonly Entry[];
  const index = new MiniSearch({
    fields: ['page', 'heading', 'text'],
    // Names such as `timeout_ms` and `X-Request-Id` are found as a whole and by their parts.
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...split(word)]),
    searchOptions: {
      boost: { page: 3, heading: 4 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boostDocument: (id) => entries[Number(id)]?.weight ?? 1,
    },
  });
  await index.addAllAsync(entries.map((entry, id) => ({ ...entry, id })));
  return { entries, index };
}

function split(word: string): readonly string[] {
  return word.includes('_') ? word.split('_') : [];
}

/** Opens the search, and loads its index the first time. */
export function openSearch(): void {
  const { dialog, input, list, status } = dialogParts();
  if (!dialog.open) dialog.showModal();
  input.select();
  parts ??= load();
  let current = 0;
  let isLoaded = false;

  const show = async () => {
    const text = input.value.trim();
    if (text !== '' && !isLoaded) status.textContent = 'Searching …';
    const { entries, index } = await (parts ?? load());
    isLoaded = true;
    if (text !== input.value.trim()) return;
    const found = text === '' ? [] : rankedOf(index.search(text), entries, text);
    list.replaceChildren(
      ...found.flatMap(({ id, terms }) => {
        const entry = entries[Number(id)];
        return entry === undefined ? [] : [resultItem(entry, terms)];
      }),
    );
    status.textContent = text === '' || found.length > 0 ? '' : `Nothing is found for “${text}”.`;
    choose(0);
  };
  const choose = (index: number) => {
    const links = [...list.querySelectorAll('a')];
    current = Math.max(0, Math.min(index, links.length - 1));
    for (const [at, link] of links.entries()) {
      link.setAttribute('aria-selected', String(at === current));
      if (at === current) {
        input.setAttribute('aria-activedescendant', link.id);
        link.scrollIntoView({ block: 'nearest' });
      }
    }
    if (links.length === 0) input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-expanded', String(links.length > 0));
  };
  input.oninput = () => {
    void show().catch((error: unknown) => {
      parts = undefined;
      status.textContent = `The search cannot be loaded: ${String(error)}`;
    });
  };
  input.onkeydown = (event) => {
    if (event.key === 'ArrowDown') choose(current + 1);
    else if (event.key === 'ArrowUp') choose(current - 1);
    else if (event.key === 'Escape') dialog.close();
    else if (event.key === 'Enter') list.querySelectorAll('a')[current]?.click();
    else return;
    event.preventDefault();
  };
  input.dispatchEvent(new Event('input'));
}

/** What was found, with the page that is called what was typed before all others. */
function rankedOf(
  found: readonly SearchResult[],
  entries: readonly Entry[],
  text: string,
): readonly SearchResult[] {
  const isCalled = ({ id }: SearchResult) => isPageCalled(entries[Number(id)], text);
  return [...found.filter(isCalled), ...found.filter((one) => !isCalled(one))].slice(
    0,
    MAX_RESULTS,
  );
}

function dialogParts() {
  let dialog = document.querySelector<HTMLDialogElement>('dialog.search');
  if (dialog === null) {
    dialog = document.createElement('dialog');
    dialog.className = 'search';
    dialog.setAttribute('aria-label', 'Search');
    dialog.innerHTML = `<input type="search" role="combobox" aria-label="Search the documentation" aria-controls="search-results" aria-expanded="false" aria-autocomplete="list" placeholder="Search the documentation" autocomplete="off" spellcheck="false" />
<p role="status"></p><div id="search-results" role="listbox" aria-label="Results"></div>
<footer><kbd>↑</kbd><kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close</footer>`;
    const opened = dialog;
    dialog.addEventListener('click', (event) => {
      const target = event.target as Element;
      // A click beside the box, or on a result of this very page.
      if (target === opened || target.closest('a') !== null) opened.close();
    });
    document.body.append(dialog);
  }
  const input = dialog.querySelector('input');
  const list = dialog.querySelector('#search-results');
  const status = dialog.querySelector('p');
  if (input === null || list === null || status === null) throw new Error('no search');
  return { dialog, input, list, status };
}

let numbered = 0;

function resultItem({ url, page, heading, text }: Entry, terms: readonly string[]): Element {
  const link = document.createElement('a');
  link.href = url;
  link.id = `result-${(numbered += 1)}`;
  link.role = 'option';
  link.tabIndex = -1;
  const title = document.createElement('strong');
  title.textContent = heading === '' ? page : heading;
  const place = document.createElement('span');
  place.textContent = heading === '' ? '' : page;
  const excerpt = document.createElement('p');
  for (const { text: piece, matches } of excerptOf(text, terms)) {
    const element = matches ? document.createElement('mark') : document.createElement('span');
    element.textContent = piece;
    excerpt.append(element);
  }
  link.append(title, place, excerpt);
  return link;
}
