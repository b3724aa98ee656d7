import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backOffMs } from './clock.ts';

describe('the back-off', () => {
  it('doubles up to its maximum', () => {
    const backOff = { firstMs: 100, maxMs: 1000 };
    const delays = [1, 2, 3, 4, 5, 6, 5000].map((failures) => backOffMs(failures, backOff, 0));
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
  });

  it('is never above its maximum nor below half of the first delay', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), random, (failures, number) => {
        const delayMs = backOffMs(failures, { firstMs: 50, maxMs: 5000 }, number);
        expect(delayMs).toBeLessThanOrEqual(5000);
        expect(delayMs).toBeGreaterThan(25);
      }),
    );
  });
});
