import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from './round.ts';
import { takeTurns } from './turns.ts';

const result = (cpuUsPerRequest: number): RoundResult => ({
  units: 1,
  durationUs: 1,
  failed: 0,
  requestsPerSecond: 1,
  cpuUsPerRequest,
  p50Us: 1,
  p99Us: 1,
  residentBytes: 1,
  foreignShare: 0,
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
});
