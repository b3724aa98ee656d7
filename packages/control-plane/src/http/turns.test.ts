import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

/** Pieces of work that end when they are told to; `begun` has those that have begun, in that order. */
function startWork(max: number) {
  const clock = manualClock();
  const takeTurn = createTurns(max, clock);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    clock,
    begun,
    take: (name: string, signal = never) =>
      takeTurn(signal, async () => {
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

describe('turns', () => {
  it('are taken by so many at one time, the others come first come first served', async () => {
    const { take, begun, end } = startWork(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => take(name));
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

  it('are passed on by work that fails', async () => {
    const takeTurn = createTurns(1, manualClock());
    await expect(takeTurn(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await takeTurn(never, () => Promise.resolve(1))).toBe(1);
  });

  it('are refused with 503 to who waited for three seconds, and take no place after that', async () => {
    const { take, begun, end, clock } = startWork(1);
    void take('a');
    const late = take('b');
    clock.advance(2999);
    const later = take('c');
    clock.advance(1);
    await expect(late).rejects.toMatchObject({
      ...{ code: 'gateway_overloaded', headers: { 'Retry-After': '3' } },
    });
    await end('a');
    expect(begun).toEqual(['a', 'c']);
    await end('c');
    expect(await later).toBe('c');
  });

  it('are not taken by who has gone, whether before or as it was given', async () => {
    const { take, begun, end } = startWork(1);
    void take('a');
    const [gone, going] = [new AbortController(), new AbortController()];
    const left = [take('b', gone.signal), take('c', going.signal)];
    const refused = Promise.allSettled(left);
    const last = take('d');
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
