import { describe, expect, it } from '@jest/globals';
import { describeSkew, SkewLog } from './clock-skew.ts';
import { captureLog } from '../../test/captured-log.ts';

describe('a clock that is off', () => {
  it.each([
    [300_000, 'the clock is 300 s behind that of NATS'],
    [-300_000, 'the clock is 300 s ahead of that of NATS'],
    [2001, 'the clock is 2 s behind that of NATS'],
    [2000, undefined],
    [-2000, undefined],
    [undefined, undefined],
  ])('by %d ms is described as: %s', (serverAheadMs, text) => {
    expect(describeSkew(serverAheadMs)).toBe(text);
  });

  it('is told once, and once when it is right again', () => {
    const { log, lines } = captureLog();
    const skew = new SkewLog(log);
    for (const aheadMs of [undefined, 5, -300_000, -300_010, 3, 4]) skew.read(aheadMs);
    expect(lines.map(({ msg, level }) => [level, msg])).toEqual([
      [40, 'the clock of this data plane and that of NATS are apart'],
      [30, 'the clock of this data plane is right again'],
    ]);
  });
});
