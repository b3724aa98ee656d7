import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leaseSize, type LeaseDemand } from './lease-size.ts';

const demands: fc.Arbitrary<LeaseDemand> = fc.record({
  left: fc.integer({ min: -10, max: 100_000 }),
  limit: fc.integer({ min: 1, max: 100_000 }),
  nodes: fc.integer({ min: 1, max: 16 }),
  waiting: fc.integer({ min: 0, max: 500 }),
  expected: fc.integer({ min: 0, max: 100_000 }),
  reserve: fc.constant(0),
});
const idle = { limit: 1000, nodes: 4, waiting: 0, expected: 0, reserve: 0 };

describe('the size of a lease', () => {
  it('is an integer within what is left, and enough for waiting requests if possible', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const left = Math.max(0, demand.left);
        const size = leaseSize(demand);
        expect(Number.isInteger(size)).toBe(true);
        expect(size).toBeLessThanOrEqual(left);
        expect(size).toBeGreaterThanOrEqual(Math.min(demand.waiting, left));
      }),
    );
  });

  it('leaves half after all data planes took such a lease ahead of need', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const size = leaseSize({ ...demand, waiting: 0 });
        expect(size * demand.nodes).toBeLessThanOrEqual(Math.max(0, demand.left) / 2);
      }),
    );
  });

  it.each([
    [{ ...idle, left: 1000 }, 2],
    [{ ...idle, left: 1000, expected: 60 }, 60],
    [{ ...idle, left: 1000, expected: 600 }, 125],
    [{ ...idle, left: 1000, expected: 60, waiting: 5 }, 65],
    [{ ...idle, left: 32, expected: 60 }, 4],
    [{ ...idle, left: 31, expected: 60 }, 0],
    [{ ...idle, left: 31, expected: 60, waiting: 1 }, 1],
    [{ ...idle, left: 3, waiting: 5 }, 3],
    [{ ...idle, left: 0, waiting: 5 }, 0],
  ])('for %j is %i', (demand, size) => {
    expect(leaseSize(demand)).toBe(size);
  });
});
