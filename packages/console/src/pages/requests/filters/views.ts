import { filtersOf, requestsSearch, type RequestsSearch } from '../requests-search.ts';

/** Filters under a name. */
export interface SavedView {
  readonly name: string;
  readonly search: RequestsSearch;
}

/** The oldest of more are left out. */
const MAX_VIEWS = 20;

/** Reads what a browser has stored, which may be of another release, or anything. */
export function readViews(stored: unknown): readonly SavedView[] {
  if (!Array.isArray(stored)) return [];
  return stored
    .flatMap((one: unknown) => {
      if (typeof one !== 'object' || one === null) return [];
      const { name, search } = one as Readonly<Record<string, unknown>>;
      if (typeof name !== 'string' || typeof search !== 'object' || search === null) return [];
      return [{ name, search: filtersOf(requestsSearch(search as Record<string, unknown>)) }];
    })
    .slice(0, MAX_VIEWS);
}

/** The views with another one first, in place of one of its name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [view, ...withoutView(views, view.name)].slice(0, MAX_VIEWS);
}

export function withoutView(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.filter((one) => one.name !== name);
}
