/** The search of another page of the same list. */
export function withCursor<Search extends { readonly cursor?: string }>(
  search: Search,
  cursor: string | undefined,
): Omit<Search, 'cursor'> & { readonly cursor?: string } {
  const moved: Omit<Search, 'cursor'> & { cursor?: string } = { ...search };
  delete moved.cursor;
  return cursor === undefined ? moved : { ...moved, cursor };
}
