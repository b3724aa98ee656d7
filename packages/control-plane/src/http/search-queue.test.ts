import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createSearchQueue } from './search-queue.ts';

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

/** Searches that the test ends; `begun` has those that have started, in order. */
function heldSearches(max: number) {
  const clock = manualClock();
  const runSearch = createSearchQueue(max, clock);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    clock,
    begun,
    start: (name: string, signal = never) =>
      runSearch(signal, async () => {
        begun.push(name);
        const { promise, resolve } = Promise.withResolvers<string>();
        ends.set(name, () => resolve(name));
        return promise;
      }),
    end: async (name: string) => {
      ends.get(name)?.();
      await settle();
    },
  };
}

describe('the queue of searches', () => {
  it('runs at most the given number at the same time, first come, first served', async () => {
    const { start, begun, end } = heldSearches(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => start(name));
    await settle();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('runs the next search after one that failed', async () => {
    const runSearch = createSearchQueue(1, manualClock());
    await expect(runSearch(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await runSearch(never, () => Promise.resolve(1))).toBe(1);
  });

  it('refuses a search that has waited for three seconds with 503, and does not start it later', async () => {
    const { start, begun, end, clock } = heldSearches(1);
    void start('a');
    const late = start('b');
    clock.advance(2999);
    const later = start('c');
    clock.advance(1);
    await expect(late).rejects.toMatchObject({
      code: 'gateway_overloaded',
      headers: { 'Retry-After': '3' },
    });
    await end('a');
    expect(begun).toEqual(['a', 'c']);
    await end('c');
    expect(await later).toBe('c');
  });

  it('does not start a search whose caller disconnected, even if a place becomes free at the same time', async () => {
    const { start, begun, end } = heldSearches(1);
    void start('a');
    const [gone, going] = [new AbortController(), new AbortController()];
    const left = [start('b', gone.signal), start('c', going.signal)];
    const refused = Promise.allSettled(left);
    const last = start('d');
    gone.abort();
    await settle();
    const ended = end('a');
    going.abort();
    await ended;
    expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(begun).toEqual(['a', 'd']);
    await end('d');
    expect(await last).toBe('d');
  });
});
