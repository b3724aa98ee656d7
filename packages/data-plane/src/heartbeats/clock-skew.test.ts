import { describe, expect, it } from '@jest/globals';
import { describeSkew, SkewLog } from './clock-skew.ts';
import { captureLog } from '../../test/captured-log.ts';

describe('clock skew', () => {
  it.each([
    [300_000, "the clock is 300 s behind the NATS server's"],
    [-300_000, "the clock is 300 s ahead of the NATS server's"],
    [2001, "the clock is 2 s behind the NATS server's"],
    [2000, undefined],
    [-2000, undefined],
    [undefined, undefined],
  ])('of %d ms is described as: %s', (serverAheadMs, text) => {
    expect(describeSkew(serverAheadMs)).toBe(text);
  });

  it('is logged once when it begins and once when it ends', () => {
    const { log, lines } = captureLog();
    const skew = new SkewLog(log);
    for (const aheadMs of [undefined, 5, -300_000, -300_010, 3, 4]) skew.read(aheadMs);
    expect(lines.map(({ msg, level }) => [level, msg])).toEqual([
      [40, 'clock differs from the clock of the NATS server'],
      [30, 'clock agrees with the clock of the NATS server again'],
    ]);
  });
});
