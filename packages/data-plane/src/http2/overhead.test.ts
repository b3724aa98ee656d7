import { describe, expect, it } from '@jest/globals';
import { Overhead } from './overhead.ts';

const KIB = 1024;

/** A connection that is looked at ten times in each of so many seconds. */
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

describe('the overhead of a connection of HTTP/2', () => {
  it.each([
    ['requests with the frames that carry them', { read: 5000 * KIB, useful: 4000 * KIB }],
    ['a body in frames of three bytes, of twelve with their heads', { read: 12_000, useful: 3000 }],
    ['many a body in frames of three bytes', { read: 12_000 * KIB, useful: 3000 * KIB }],
    ['keystrokes, each in a frame', { read: 10 * KIB, useful: 1 * KIB }],
    ['pings, a thousand a second', { read: 17_000, written: 17_000 }],
    ['windows for a download', { read: 1300 * KIB, written: 300_000 * KIB }],
  ])('is no flood for a day: %s', (_case, perSecond) => {
    expect(floodAfterSeconds(86_400, perSecond)).toBeUndefined();
  });

  it.each([
    ['frames that say nothing', { read: 10_000 * KIB }, 0.2],
    ['pings that are answered', { read: 10_000 * KIB, written: 10_000 * KIB }, 0.2],
    ['a body in frames of one byte', { read: 10_000 * KIB, useful: 1000 * KIB }, 0.2],
    ['a little more than is forgiven', { read: 100 * KIB }, 8],
  ])('is a flood soon: %s', (_case, perSecond, withinSeconds) => {
    const seconds = floodAfterSeconds(60, perSecond) ?? Infinity;
    expect(seconds).toBeLessThanOrEqual(withinSeconds);
  });

  it('is forgiven with time, not saved up for later', () => {
    const overhead = new Overhead(0);
    expect(overhead.isFlood({ bytesRead: 200 * KIB, bytesWritten: 0 }, 0)).toBe(false);
    expect(overhead.isFlood({ bytesRead: 200 * KIB, bytesWritten: 0 }, 3_600_000)).toBe(false);
    expect(overhead.isFlood({ bytesRead: 500 * KIB, bytesWritten: 0 }, 3_600_000)).toBe(true);
  });
});
