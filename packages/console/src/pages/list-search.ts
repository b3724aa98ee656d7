/** The search parameters of a list with pages. */
export interface ListSearch {
  /** The position of the shown page; absent: the first one. */
  readonly cursor?: string;
}

/** The search with other filters, from the first page on, because a cursor belongs to the filters before. */
export function withFilters<Search extends ListSearch>(
  search: Search,
  change: { readonly [Name in keyof Omit<Search, 'cursor'>]?: Search[Name] | undefined },
) {
  const kept = Object.entries({ ...search, ...change }).filter(
    ([name, value]) => name !== 'cursor' && value !== undefined,
  );
  return Object.fromEntries(kept) as Omit<Search, 'cursor'>;
}

/** Reads them from a URL. */
export function listSearch({ cursor }: Record<string, unknown>): ListSearch {
  return typeof cursor === 'string' && cursor !== '' ? { cursor } : {};
}
