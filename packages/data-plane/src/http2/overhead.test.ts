import { describe, expect, it } from '@jest/globals';
import { Overhead } from './overhead.ts';

const KIB = 1024;

/** Checks a connection ten times in each of this many seconds. */
function floodAfterSeconds(
  seconds: number,
  perSecond: { read: number; useful?: number; written?: number },
): number | undefined {
  const overhead = new Overhead(0);
  let [bytesRead, bytesWritten] = [0, 0];
  for (let look = 1; look <= seconds * 10; look += 1) {
    bytesRead += perSecond.read / 10;
    bytesWritten += (perSecond.written ?? 0) / 10;
    overhead.useful((perSecond.useful ?? 0) / 10);
    if (overhead.isFlood({ bytesRead, bytesWritten }, look * 100)) return look / 10;
  }
  return undefined;
}

describe('the overhead of an HTTP/2 connection', () => {
  it.each([
    ['requests with the frames that carry them', { read: 5000 * KIB, useful: 4000 * KIB }],
    ['a body in frames of three bytes, twelve with their heads', { read: 12_000, useful: 3000 }],
    ['many bodies in frames of three bytes', { read: 12_000 * KIB, useful: 3000 * KIB }],
    ['keystrokes, each in one frame', { read: 10 * KIB, useful: 1 * KIB }],
    ['pings, a thousand a second', { read: 17_000, written: 17_000 }],
    ['window updates for a download', { read: 1300 * KIB, written: 300_000 * KIB }],
  ])('is not a flood, even for a day: %s', (_case, perSecond) => {
    expect(floodAfterSeconds(86_400, perSecond)).toBeUndefined();
  });

  it.each([
    ['frames without content', { read: 10_000 * KIB }, 0.2],
    ['pings that are answered', { read: 10_000 * KIB, written: 10_000 * KIB }, 0.2],
    ['a body in frames of one byte', { read: 10_000 * KIB, useful: 1000 * KIB }, 0.2],
    ['a little more than is allowed over time', { read: 100 * KIB }, 8],
  ])('is soon detected as a flood: %s', (_case, perSecond, withinSeconds) => {
    const seconds = floodAfterSeconds(60, perSecond) ?? Infinity;
    expect(seconds).toBeLessThanOrEqual(withinSeconds);
  });

  it('is forgotten over time, and unused allowance does not accumulate', () => {
    const overhead = new Overhead(0);
    expect(overhead.isFlood({ bytesRead: 200 * KIB, bytesWritten: 0 }, 0)).toBe(false);
    expect(overhead.isFlood({ bytesRead: 200 * KIB, bytesWritten: 0 }, 3_600_000)).toBe(false);
    expect(overhead.isFlood({ bytesRead: 500 * KIB, bytesWritten: 0 }, 3_600_000)).toBe(true);
  });
});
