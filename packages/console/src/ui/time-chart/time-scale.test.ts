import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { placeOf, rangeOfSteps, stepAt, timeAt, timeTicks, valueTicks } from './time-scale.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const steps = [0, 1, 2].map((index) => ({ fromMs: index * MINUTE, toMs: (index + 1) * MINUTE }));

describe('the axis of time', () => {
  it('has at most six times, all within the range, on whole minutes of the reader', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: MINUTE, max: 30 * 24 * HOUR }),
        fc.constantFrom(-5 * HOUR, 0, 5.5 * HOUR, 13 * HOUR),
        (fromMs, spanMs, zoneMs) => {
          const ticks = timeTicks({ fromMs, toMs: fromMs + spanMs }, zoneMs);
          expect(ticks.length).toBeLessThanOrEqual(6);
          for (const at of ticks) {
            expect(at).toBeGreaterThanOrEqual(fromMs);
            expect(at).toBeLessThanOrEqual(fromMs + spanMs);
            // The rest of a time before 1970 is -0.
            expect(Math.abs((at + zoneMs) % MINUTE)).toBe(0);
          }
        },
      ),
      { seed: 42, examples: [[0, MINUTE, -5 * HOUR]] },
    );
  });

  it('shows whole days of the zone for a week', () => {
    const zoneMs = 2 * HOUR;
    const ticks = timeTicks({ fromMs: 5 * HOUR, toMs: 5 * HOUR + 7 * 24 * HOUR }, zoneMs);
    expect(ticks.every((at) => (at + zoneMs) % (24 * HOUR) === 0)).toBe(true);
  });
});

describe('the axis of values', () => {
  it.each([
    [0, true, [0]],
    [1, true, [0, 1]],
    [3, true, [0, 1, 2, 3]],
    [97, true, [0, 25, 50, 75]],
    [0.9, false, [0, 0.25, 0.5, 0.75]],
    [1200, false, [0, 500, 1000]],
  ])('of values up to %d (whole: %s) has %j', (largest, isWhole, ticks) => {
    expect(valueTicks(largest, isWhole)).toEqual(ticks);
  });
});

describe('a place in the chart', () => {
  it('is the time that it came from', () => {
    const range = { fromMs: 1000, toMs: 5000 };
    expect(timeAt(placeOf(2500, range), range)).toBe(2500);
    expect(placeOf(9000, range)).toBe(1);
  });

  it('belongs to one step, and two of them are a range in either order', () => {
    expect([stepAt(steps, 0), stepAt(steps, MINUTE), stepAt(steps, HOUR)]).toEqual([0, 1, 2]);
    expect(stepAt([], 0)).toBe(-1);
    const range = { fromMs: MINUTE, toMs: 3 * MINUTE };
    expect(rangeOfSteps(steps, 1, 2)).toEqual(range);
    expect(rangeOfSteps(steps, 2, 1)).toEqual(range);
    expect(rangeOfSteps(steps, 2, 3)).toBeUndefined();
  });
});
