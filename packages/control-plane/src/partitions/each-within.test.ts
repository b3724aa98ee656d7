import { describe, expect, it } from '@jest/globals';
import { eachWithin } from './each-within.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number += 1) {
    await Promise.resolve();
    yield number;
  }
}

/** Work that ends when the test says so. */
function held() {
  const open = new Map<number, (goesOn: boolean) => void>();
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
    end: (item: number, goesOn = true) => {
      open.get(item)?.(goesOn);
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

describe('work on a stream, several items at a time', () => {
  it('works on as many as it may and no more, and ends when all are done', async () => {
    const { work, open, end, most } = held();
    let isOver = false;
    const all = eachWithin(numbers(5), 2, work).then(() => (isOver = true));
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

  it('asks for nothing more once work says so, and waits for what is under way', async () => {
    const { work, open, end } = held();
    let isOver = false;
    const all = eachWithin(numbers(9), 2, work).then(() => (isOver = true));
    await turn();
    end(0, false);
    await turn();
    expect(open()).toEqual([1]);
    expect(isOver).toBe(false);
    end(1);
    await all;
    expect(open()).toEqual([]);
  });

  it('throws what work throws, after the rest of it has ended', async () => {
    const { work, open, end, fail } = held();
    let error: unknown;
    const all = eachWithin(numbers(9), 2, work).catch((thrown: unknown) => (error = thrown));
    await turn();
    fail(0);
    await turn();
    expect(error).toBeUndefined();
    expect(open()).toEqual([1]);
    end(1);
    await all;
    expect(error).toEqual(new Error('work on 0'));
  });

  it('throws the error of what it reads, after the work under way has ended', async () => {
    const { work, open, end } = held();
    async function* broken(): AsyncGenerator<number> {
      yield* numbers(1);
      throw new Error('reading');
    }
    let error: unknown;
    const all = eachWithin(broken(), 2, work).catch((thrown: unknown) => (error = thrown));
    await turn();
    expect(error).toBeUndefined();
    expect(open()).toEqual([0]);
    end(0);
    await all;
    expect(error).toEqual(new Error('reading'));
  });
});
