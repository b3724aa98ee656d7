import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FixedWindowCounters } from './fixed-window.ts';

describe('fixed windows', () => {
  it('never grant more than the limit in a window, whatever the order of time', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b'), advanceMs: fc.nat(400) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 60 }),
        (limit, steps) => {
          const counters = new FixedWindowCounters(10);
          const granted = new Map<string, number>();
          let nowMs = 1_900_000_000_000;
          for (const { key, advanceMs } of steps) {
            nowMs += advanceMs;
            const window = counters.take(key, limit, 1000, nowMs);
            const bucket = `${key} ${Math.floor(nowMs / 1000)}`;
            const before = granted.get(bucket) ?? 0;
            expect(window.granted).toBe(before < limit);
            expect(window.remaining).toBe(Math.max(0, limit - before - 1));
            granted.set(bucket, before + (window.granted ? 1 : 0));
          }
        },
      ),
    );
  });

  it('report the whole seconds until the window ends', () => {
    const counters = new FixedWindowCounters(10);
    expect(counters.take('a', 1, 60_000, 60_000).resetSeconds).toBe(60);
    expect(counters.peek('a', 1, 60_000, 119_001).resetSeconds).toBe(1);
    expect(counters.peek('a', 1, 60_000, 119_999).resetSeconds).toBe(1);
  });

  it('count nothing when they are only read', () => {
    const counters = new FixedWindowCounters(10);
    expect(counters.peek('a', 1, 1000, 0)).toMatchObject({ granted: true, remaining: 1 });
    expect(counters.take('a', 1, 1000, 0)).toMatchObject({ granted: true, remaining: 0 });
    expect(counters.take('a', 1, 1000, 0)).toMatchObject({ granted: false, remaining: 0 });
  });

  it('are limited in number, and dropped ones are counted', () => {
    const counters = new FixedWindowCounters(3);
    for (let key = 0; key < 10; key += 1) counters.take(String(key), 1, 1000, 0);
    expect(counters.size).toBe(3);
    expect(counters.dropped).toBe(7);
  });
});
