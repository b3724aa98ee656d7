import { describe, expect, it } from '@jest/globals';
import { createWorkQueue } from './work-queue.ts';

/** Runs that end when the test says so. */
function heldRuns() {
  const started: string[] = [];
  const open: { key: string; end: () => void }[] = [];
  const run = (key: string) =>
    new Promise<void>((resolve) => {
      started.push(key);
      open.push({ key, end: resolve });
    });
  const end = async (key: string) => {
    const index = open.findIndex((one) => one.key === key);
    open.splice(index, 1)[0]?.end();
    await new Promise(setImmediate);
  };
  return { started, run, end };
}

describe('the work queue', () => {
  it('combines additions during a run to one more run, and never runs a key twice at once', async () => {
    const { started, run, end } = heldRuns();
    const queue = createWorkQueue(4, run);
    for (let change = 0; change < 5; change += 1) queue.add('a');
    expect(started).toEqual(['a']);
    await end('a');
    expect(started).toEqual(['a', 'a']);
    await end('a');
    expect(started).toEqual(['a', 'a']);
  });

  it('runs keys up to its concurrency, first come first served', async () => {
    const { started, run, end } = heldRuns();
    const queue = createWorkQueue(2, run);
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(started).toEqual(['a', 'b']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is not blocked by a key that runs and must run again', async () => {
    const { started, run } = heldRuns();
    const queue = createWorkQueue(2, run);
    for (const key of ['a', 'a', 'b']) queue.add(key);
    expect(started).toEqual(['a', 'b']);
    await Promise.resolve();
  });

  it('stops when the running keys have ended, and starts no others', async () => {
    const { started, run, end } = heldRuns();
    const queue = createWorkQueue(1, run);
    queue.add('a');
    queue.add('b');
    let stopped = false;
    const stop = queue.stop().then(() => (stopped = true));
    queue.add('c');
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    await end('a');
    await stop;
    expect(started).toEqual(['a']);
  });
});
