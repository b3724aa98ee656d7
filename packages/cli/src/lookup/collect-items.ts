/** The most items that the API returns at once. */
const MAX_PAGE = 200;

/** The `limit` of the API for the pages of a list of so many items. */
export function pageSize(limit: number): number {
  return Math.min(Math.max(limit, 1), MAX_PAGE);
}

/** The items of a list, at most `limit`. */
export async function collectItems<Item>(
  items: AsyncIterable<Item>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const collected: Item[] = [];
  if (limit === 0) return collected;
  for await (const item of items) {
    collected.push(item);
    if (collected.length >= limit) break;
  }
  return collected;
}
