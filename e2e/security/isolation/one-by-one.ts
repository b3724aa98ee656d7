/** Runs the work for each item when that for the item before has ended. */
export async function oneByOne<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (const item of items) await work(item);
}
