import { describe, expect, it } from '@jest/globals';
import { forEachConcurrently } from './for-each-concurrently.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) {
    await Promise.resolve();
    yield number;
  }
}

/** Work that ends when the test says so. */
function held() {
  const open = new Map<number, (wantsMore: boolean) => void>();
  const failing = new Map<number, (error: Error) => void>();
  let most = 0;
  return {
    work: (item: number) =>
      new Promise<boolean>((resolve, reject) => {
        open.set(item, resolve);
        failing.set(item, reject);
        most = Math.max(most, open.size);
      }),
    open: () => [...open.keys()],
    end: (item: number, wantsMore = true) => {
      open.get(item)?.(wantsMore);
      open.delete(item);
    },
    fail: (item: number) => {
      failing.get(item)?.(new Error(`work on ${item}`));
      open.delete(item);
    },
    most: () => most,
  };
}

const turn = () => new Promise(setImmediate);

describe('work on several items of a stream at a time', () => {
  it('runs for at most as many items as it may, and ends when all have ended', async () => {
    const { work, open, end, most } = held();
    let isOver = false;
    const all = forEachConcurrently(numbers(5), 2, work).then(() => (isOver = true));
    await turn();
    expect(open()).toEqual([0, 1]);
    end(1);
    await turn();
    expect(open()).toEqual([0, 2]);
    for (const item of [0, 2, 3]) {
      end(item);
      await turn();
    }
    expect(open()).toEqual([4]);
    expect(isOver).toBe(false);
    end(4);
    await all;
    expect(most()).toBe(2);
  });

  it('reads no more items when work returns false, and waits for the calls that run', async () => {
    const { work, open, end } = held();
    let isOver = false;
    const all = forEachConcurrently(numbers(9), 2, work).then(() => (isOver = true));
    await turn();
    end(0, false);
    await turn();
    expect(open()).toEqual([1]);
    expect(isOver).toBe(false);
    end(1);
    await all;
    expect(open()).toEqual([]);
  });

  it('throws the error of work after the other calls have ended', async () => {
    const { work, open, end, fail } = held();
    let error: unknown;
    const all = forEachConcurrently(numbers(9), 2, work).catch(
      (thrown: unknown) => (error = thrown),
    );
    await turn();
    fail(0);
    await turn();
    expect(error).toBeUndefined();
    expect(open()).toEqual([1]);
    end(1);
    await all;
    expect(error).toEqual(new Error('work on 0'));
  });

  it('throws the error of the items after the calls that run have ended', async () => {
    const { work, open, end } = held();
    async function* broken(): AsyncGenerator<number> {
      yield* numbers(1);
      throw new Error('reading');
    }
    let error: unknown;
    const all = forEachConcurrently(broken(), 2, work).catch((thrown: unknown) => (error = thrown));
    await turn();
    expect(error).toBeUndefined();
    expect(open()).toEqual([0]);
    end(0);
    await all;
    expect(error).toEqual(new Error('reading'));
  });
});
