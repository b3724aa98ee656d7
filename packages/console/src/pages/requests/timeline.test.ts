import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timing } from '@gateway/shared/test/request-record';
import { timelineOf } from './timeline.ts';

const attempt = { upstream: 'ups_1', region: null };

describe('the timeline of a request', () => {
  it('has each attempt where it ran, and the wait before it', () => {
    const { endMs, ticksMs, bars } = timelineOf({
      timing: timing({ upstream_ms: 99 }),
      attempts: [
        { ...attempt, started_ms: 0, duration_ms: 20, error: 'reset' },
        { ...attempt, started_ms: 50, duration_ms: 25, status: 200 },
      ],
    });
    expect(endMs).toBe(100);
    expect(ticksMs).toEqual([0, 20, 40, 60, 80, 100]);
    expect(bars).toMatchObject([
      { start: 0, length: 0.2, waitedMs: 0, failed: true },
      { start: 0.5, length: 0.25, waitedMs: 30, failed: false },
    ]);
  });

  it('stays within its axis, with few ticks and bars that can be seen', () => {
    const ms = fc.double({ min: 0, max: 400_000, noNaN: true });
    const attempts = fc.array(fc.record({ started_ms: ms, duration_ms: ms }), { maxLength: 5 });
    fc.assert(
      fc.property(ms, attempts, (total_ms, some) => {
        const { endMs, ticksMs, bars } = timelineOf({
          timing: timing({ gateway_ms: total_ms }),
          attempts: some.map((times) => ({ ...attempt, ...times })),
        });
        expect(ticksMs.length).toBeLessThanOrEqual(6);
        expect(Math.max(...ticksMs)).toBeLessThanOrEqual(endMs * 1.000001);
        for (const { start, length } of bars) {
          expect(length).toBeGreaterThan(0);
          expect(start + length).toBeLessThanOrEqual(1 + 1e-9);
        }
      }),
    );
  });
});
