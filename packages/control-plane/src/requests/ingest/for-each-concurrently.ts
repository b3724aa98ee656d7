/**
 * Calls `work` with each item, for at most `max` items at a time. The next item is read only when there is
 * room for it. Ends when there are no more items, or when `work` returns false; calls that run then are
 * awaited.
 *
 * @throws the first error of the items or of `work`, after the calls that run have ended.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T>,
  max: number,
  work: (item: T) => Promise<boolean>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  let isEnded = false;

  async function run(item: T): Promise<void> {
    try {
      if (!(await work(item))) isEnded = true;
    } catch (error) {
      isEnded = true;
      errors.push(error);
    }
  }

  // A function, because the compiler does not see that the calls change it.
  const hasEnded = () => isEnded;
  try {
    for await (const item of items) {
      const call = run(item).finally(() => running.delete(call));
      running.add(call);
      while (running.size >= max) await Promise.race(running);
      if (hasEnded()) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (errors.length > 0) throw errors[0];
}
