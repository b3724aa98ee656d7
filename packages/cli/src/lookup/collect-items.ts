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
