import { describe, expect, it } from '@jest/globals';
import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  it('loads everything for less than ten minutes unless told otherwise', () => {
    const { rounds, roundSeconds, warmUpSeconds, only, write } = parseOptions([]);
    const rows = 9;
    // A round at the same load is three times as long as one at saturation.
    expect(rows * (warmUpSeconds + rounds * roundSeconds * (1 + 3))).toBeLessThan(600);
    expect(only).toEqual([]);
    expect(write).toBe(true);
  });

  it('takes shorter runs of some rows', () => {
    const args = ['--rounds', '1', '--round-seconds', '1', '--only', 'floor,gateway', '--no-write'];
    expect(parseOptions(args)).toMatchObject({
      rounds: 1,
      roundSeconds: 1,
      only: ['floor', 'gateway'],
      write: false,
    });
  });

  it.each([['--rounds', '0'], ['--rounds', '1.5'], ['--connections', 'many'], ['--fast']])(
    'refuses %s %s with the usage',
    (...args) => {
      expect(() => parseOptions(args)).toThrow('usage: pnpm bench');
    },
  );
});
