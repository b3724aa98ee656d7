import { describe, expect, it } from '@jest/globals';
import { sparklinePoints } from './sparkline-path.ts';

describe('the line of a sparkline', () => {
  it('reaches the top at the largest value and the bottom at 0', () => {
    expect(sparklinePoints([0, 5, 10], 100, 20)).toBe('0,20 50,10 100,0');
  });

  it('lies at the bottom without requests', () => {
    expect(sparklinePoints([0, 0], 100, 20)).toBe('0,20 100,20');
    expect(sparklinePoints([], 100, 20)).toBe('');
  });

  it('can be drawn on the scale of another line', () => {
    expect(sparklinePoints([1, 2], 10, 20, 4)).toBe('0,15 10,10');
  });
});
