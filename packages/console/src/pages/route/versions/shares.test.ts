import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dividersOf, shareOf, withDivider, withShare } from './shares.ts';

const versions = (...all: number[]) => all.map((weight, at) => ({ name: `v${at}`, weight }));
const weights = (all: readonly { readonly weight: number }[]) => all.map(({ weight }) => weight);
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

describe('the shares of versions', () => {
  it('are set for one version, and the others keep their proportions', () => {
    expect(weights(withShare(versions(100, 0), 1, 25))).toEqual([75, 25]);
    expect(weights(withShare(versions(900, 100), 1, 5))).toEqual([950, 50]);
    expect(weights(withShare(versions(1, 0), 1, 1))).toEqual([99, 1]);
    expect(weights(withShare(versions(60, 30, 10), 2, 40))).toEqual([40, 20, 40]);
    expect(weights(withShare(versions(0, 0, 100), 2, 10))).toEqual([45, 45, 10]);
    expect(weights(withShare(versions(90, 10), 0, 100))).toEqual([100, 0]);
  });

  it('move between the two versions beside a divider', () => {
    expect(dividersOf(versions(60, 30, 10))).toEqual([60, 90]);
    expect(weights(withDivider(versions(60, 30, 10), 1, 75))).toEqual([60, 15, 25]);
    expect(weights(withDivider(versions(60, 30, 10), 1, 20))).toEqual([60, 0, 40]);
    expect(weights(withDivider(versions(60, 30, 10), 0, 100))).toEqual([90, 0, 10]);
  });

  it('are always whole weights that the API takes, with the share that was asked for', () => {
    const weighted = fc
      .array(fc.nat(1000), { minLength: 2, maxLength: 8 })
      .filter((all) => sum(all) > 0);
    fc.assert(
      fc.property(weighted, fc.nat(100), fc.nat(7), (all, percent, at) => {
        const index = at % all.length;
        const set = withShare(versions(...all), index, percent);
        const whole = sum(weights(set));
        expect(whole).toBeGreaterThanOrEqual(100);
        expect(whole).toBeLessThanOrEqual(1000);
        expect(Math.abs(shareOf(set, index) - percent)).toBeLessThanOrEqual(0.5);
        const moved = withDivider(versions(...all), index % (all.length - 1), percent);
        for (const weight of [...weights(set), ...weights(moved)]) {
          expect(Number.isInteger(weight) && weight >= 0 && weight <= 1000).toBe(true);
        }
        expect(sum(weights(moved))).toBeGreaterThanOrEqual(100);
      }),
    );
  });
});
