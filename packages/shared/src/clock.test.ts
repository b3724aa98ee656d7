import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { manualClock, type ManualClock } from '../test/manual-clock.ts';
import { backOffMs, waitUntil } from './clock.ts';

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

describe('a wait for a condition', () => {
  /** Each poll sets the next timer in a later turn. */
  async function pass(clock: ManualClock, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      clock.advance(10);
      await turn();
    }
  }

  it('ends when the condition holds', async () => {
    const clock = manualClock();
    let holds = false;
    let ended = false;
    void waitUntil(clock, 1000, () => holds).then(() => (ended = true));
    await pass(clock, 500);
    expect(ended).toBe(false);
    holds = true;
    await pass(clock, 10);
    expect(ended).toBe(true);
  });

  it('ends after its time although the condition does not hold', async () => {
    const clock = manualClock();
    let ended = false;
    void waitUntil(clock, 1000, () => false).then(() => (ended = true));
    await pass(clock, 990);
    expect(ended).toBe(false);
    await pass(clock, 10);
    expect(ended).toBe(true);
  });
});
