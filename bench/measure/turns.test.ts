import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from './round.ts';
import { takeTurns } from './turns.ts';

const result = (cpuUsPerRequest: number, foreignShare = 0): RoundResult => ({
  requests: 1,
  failed: 0,
  requestsPerSecond: 1,
  cpuUsPerRequest,
  p50Us: 1,
  p99Us: 1,
  residentBytes: 1,
  foreignShare,
});

const nameOf = (name: string) => name;

describe('takeTurns', () => {
  it('lets each subject begin as often as the other, and keeps the results of a round together', async () => {
    const order: string[] = [];
    const measure = (name: string) => {
      order.push(name);
      return Promise.resolve(result(order.length));
    };
    const taken = await takeTurns(['a', 'b'], { rounds: 4, alternate: true, nameOf, measure });
    expect(order.join('')).toBe('abbaabba');
    const costs = [...taken].map(([, all]) => all.map((one) => one.cpuUsPerRequest));
    expect(costs).toEqual([
      [1, 4, 5, 8],
      [2, 3, 6, 7],
    ]);
  });

  it('repeats disturbed measurements a few times and keeps the least disturbed one', async () => {
    const shares = [0.2, 0.5, 0.05, 0.3, 0.3];
    const measure = () => Promise.resolve(result(1, shares.shift()));
    const taken = await takeTurns(['a'], { rounds: 3, repeats: 2, nameOf, measure });
    expect(taken.get('a')?.map((one) => one.foreignShare)).toEqual([0.05, 0.3, 0.3]);
  });
});
