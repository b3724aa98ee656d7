/**
 * Works on what an iterable gives, on at most `max` items at one time. The next item is asked for as
 * soon as there is room for it. Ends when the iterable does, or once `work` resolves to false; what is
 * under way then is waited for.
 *
 * @throws the first error of the iterable or of `work`, after what is under way has ended.
 */
export async function eachWithin<T>(
  items: AsyncIterable<T>,
  max: number,
  work: (item: T) => Promise<boolean>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const state: { goesOn: boolean; failed: unknown[] } = { goesOn: true, failed: [] };
  const start = (item: T): void => {
    const one = work(item)
      .then(
        (wantsMore) => {
          state.goesOn &&= wantsMore;
        },
        (error: unknown) => {
          state.goesOn = false;
          state.failed.push(error);
        },
      )
      .finally(() => underWay.delete(one));
    underWay.add(one);
  };
  try {
    for await (const item of items) {
      start(item);
      while (underWay.size >= max) await Promise.race(underWay);
      if (!state.goesOn) break;
    }
  } finally {
    await Promise.all(underWay);
  }
  if (state.failed.length > 0) throw state.failed[0];
}
