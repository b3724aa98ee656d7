import { describe, expect, it } from '@jest/globals';
import { largestWeight, movedWeights } from './moved-weights.ts';

const weights = (versions: readonly { readonly weight: number }[]) =>
  versions.map(({ weight }) => weight);
const versions = (...all: number[]) => all.map((weight, at) => ({ name: `v${at}`, weight }));

describe('moving the slider of a version', () => {
  it('moves the other one of two by as much', () => {
    expect(weights(movedWeights(versions(90, 10), 1, 30))).toEqual([70, 30]);
    expect(weights(movedWeights(versions(1, 0), 1, 1))).toEqual([0, 1]);
    expect(largestWeight(versions(90, 10))).toBe(100);
    expect(largestWeight(versions(450, 50))).toBe(500);
    expect(largestWeight(versions(1000, 1000))).toBe(1000);
  });

  it('leaves the others as they are if there are more, or none', () => {
    expect(weights(movedWeights(versions(50, 30, 20), 2, 40))).toEqual([50, 30, 40]);
    expect(weights(movedWeights(versions(100), 0, 7))).toEqual([7]);
    expect(largestWeight(versions(50, 30, 20))).toBe(100);
    expect(largestWeight(versions(500, 30, 20))).toBe(500);
  });
});
