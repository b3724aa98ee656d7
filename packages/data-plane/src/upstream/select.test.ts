import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { selectUpstream } from './select.ts';

const candidate = fc.record({ inFlight: fc.nat(20), weight: fc.integer({ min: 1, max: 5 }) });
function choose(
  candidates: readonly { inFlight: number; weight: number }[],
  tried: ReadonlySet<number>,
  random: () => number,
): number {
  return selectUpstream(candidates, (one) => one.inFlight, tried, random);
}
const draws = fc.infiniteStream(fc.double({ min: 0, max: 0.999_999, noNaN: true }));

describe('selectUpstream', () => {
  it('gives an index of the candidates, and one not tried as long as there is one', () => {
    fc.assert(
      fc.property(
        fc.array(candidate, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(5)),
        draws,
        (candidates, indices, random) => {
          const tried = new Set(indices.filter((index) => index < candidates.length));
          const chosen = choose(candidates, tried, () => Number(random.next().value));
          expect(chosen).toBeGreaterThanOrEqual(0);
          expect(chosen).toBeLessThan(candidates.length);
          if (tried.size < candidates.length) expect(tried.has(chosen)).toBe(false);
        },
      ),
    );
  });

  it('takes the one with fewer in flight of any two', () => {
    const pair = [
      { inFlight: 9, weight: 1 },
      { inFlight: 1, weight: 1 },
    ];
    for (const value of [0, 0.3, 0.7, 0.99]) {
      expect(choose(pair, new Set(), () => value)).toBe(1);
    }
  });

  it('counts in flight against the weight', () => {
    const pair = [
      { inFlight: 5, weight: 10 },
      { inFlight: 1, weight: 1 },
    ];
    expect(choose(pair, new Set(), () => 0)).toBe(0);
  });

  it('says that there are none', () => {
    expect(choose([], new Set(), () => 0)).toBe(-1);
  });
});
