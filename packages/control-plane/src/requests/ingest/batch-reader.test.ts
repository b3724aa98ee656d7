import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { readBatches } from './batch-reader.ts';

const BOUNDS = { maxWeight: 10, idleMs: 20, maxWaitMs: 100 };

/** A source whose items, end or error come when the test says so. */
function feed() {
  const waiting: ((result: IteratorResult<number>) => void)[] = [];
  const failing: ((error: Error) => void)[] = [];
  const queued: number[] = [];
  let reads = 0;
  const items: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        reads += 1;
        const value = queued.shift();
        if (value !== undefined) return Promise.resolve({ value, done: false });
        return new Promise((resolve, reject) => {
          waiting.push(resolve);
          failing.push(reject);
        });
      },
    }),
  };
  return {
    items,
    reads: () => reads,
    push: (value: number) => {
      const resolve = waiting.shift();
      failing.shift();
      if (resolve === undefined) queued.push(value);
      else resolve({ value, done: false });
    },
    end: () => waiting.shift()?.({ value: undefined, done: true }),
    fail: (error: Error) => failing.shift()?.(error),
  };
}

const turn = () => new Promise(setImmediate);

describe('readBatches', () => {
  it('ends an idle batch, and puts the next item into the next one', async () => {
    const clock = manualClock();
    const source = feed();
    const batches = readBatches(source.items, () => 1, BOUNDS, clock);
    source.push(1);
    source.push(2);
    const first = batches.next();
    await turn();
    clock.advance(20);
    expect((await first).value).toEqual([1, 2]);
    source.push(3);
    const second = batches.next();
    await turn();
    clock.advance(20);
    expect((await second).value).toEqual([3]);
  });

  it('ends a full batch without waiting', async () => {
    const source = feed();
    for (const weight of [4, 5, 6, 1]) source.push(weight);
    const batches = readBatches(source.items, (weight) => weight, BOUNDS, manualClock());
    expect((await batches.next()).value).toEqual([4, 5, 6]);
  });

  it('ends a batch after its longest wait, even if items keep coming', async () => {
    const clock = manualClock();
    const source = feed();
    const batch = readBatches(source.items, () => 0, BOUNDS, clock).next();
    let result: IteratorResult<readonly number[]> | undefined;
    void batch.then((value) => (result = value));
    for (let item = 0; item < 30 && result === undefined; item += 1) {
      source.push(item);
      await turn();
      clock.advance(10);
      await turn();
    }
    expect(result?.value).toHaveLength(10);
  });

  it('yields the last batch before the end or the error of its source', async () => {
    const clock = manualClock();
    for (const failure of [undefined, new Error('consumer not found')]) {
      const source = feed();
      const batches = readBatches(source.items, () => 1, BOUNDS, clock);
      const first = batches.next();
      source.push(1);
      await turn();
      if (failure === undefined) source.end();
      else source.fail(failure);
      expect((await first).value).toEqual([1]);
      if (failure === undefined) expect((await batches.next()).done).toBe(true);
      else await expect(batches.next()).rejects.toThrow('consumer not found');
    }
  });

  it('reads at most one item ahead of the batch', async () => {
    const source = feed();
    for (let item = 0; item < 50; item += 1) source.push(item);
    const batches = readBatches(source.items, () => 1, BOUNDS, manualClock());
    await batches.next();
    await turn();
    expect(source.reads()).toBe(11);
  });
});
