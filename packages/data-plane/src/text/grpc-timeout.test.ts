import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grpcTimeoutText, parseGrpcTimeoutMs } from './grpc-timeout.ts';

describe('grpc-timeout', () => {
  it.each([
    ['1H', 3_600_000],
    ['2M', 120_000],
    ['3S', 3000],
    ['00000004m', 4],
    ['5u', 0.005],
    ['99999999n', 99.999999],
    ['0S', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseGrpcTimeoutMs(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '1', 'S', '123456789S', '-1S', '1.5S', '1s', '1 S', ' 1S', '1S, 2S', '1SS', '١S'])(
    '"%s" is malformed',
    (text) => {
      expect(parseGrpcTimeoutMs(text)).toBeUndefined();
    },
  );

  it('of a time is that time or less, by at most a thousandth, and never nothing', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1e10, noNaN: true }), (ms) => {
        const read = parseGrpcTimeoutMs(grpcTimeoutText(ms)) ?? NaN;
        expect(read).toBeLessThanOrEqual(ms * (1 + 1e-9));
        expect(read).toBeGreaterThanOrEqual(
          Math.max(0.001, ms - Math.max(0.001, ms / 1000)) * (1 - 1e-9),
        );
      }),
    );
    expect(grpcTimeoutText(0)).toBe('1u');
    expect(grpcTimeoutText(Infinity)).toBe('99999999S');
  });
});
