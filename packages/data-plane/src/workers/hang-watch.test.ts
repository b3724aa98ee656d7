import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { watchForHang } from './hang-watch.ts';

function setUp() {
  const clock = manualClock();
  const hung: number[] = [];
  let asked = 0;
  const watch = watchForHang({
    clock,
    timeoutMs: 30_000,
    ask: () => void (asked += 1),
    hangs: (silentMs) => void hung.push(silentMs),
  });
  return { clock, hung, watch, asked: () => asked };
}

describe('a watch for a process that hangs', () => {
  it('tells of one that has answered nothing for the whole time, once', () => {
    const { clock, hung, asked } = setUp();
    clock.advance(29_999);
    expect(hung).toEqual([]);
    clock.advance(1);
    expect(hung).toEqual([30_000]);
    clock.advance(300_000);
    expect(hung).toEqual([30_000]);
    expect(asked()).toBe(6);
  });

  it('spares one that answers at all, however late', () => {
    const { clock, hung, watch } = setUp();
    for (let round = 0; round < 20; round += 1) {
      clock.advance(29_999);
      watch.heard();
    }
    expect(hung).toEqual([]);
  });

  it('does not hold a standstill of the machine against the process', () => {
    const clock = manualClock();
    const hung: number[] = [];
    let skippedMs = 0;
    const watch = watchForHang({
      clock: { ...clock, monotonicMs: () => clock.monotonicMs() + skippedMs },
      timeoutMs: 30_000,
      ask: () => undefined,
      hangs: (silentMs) => void hung.push(silentMs),
    });
    skippedMs = 3_600_000;
    clock.advance(5000);
    expect(hung).toEqual([]);
    watch.heard();
    clock.advance(29_999);
    expect(hung).toEqual([]);
  });

  it('asks no more once it is stopped', () => {
    const { clock, hung, watch, asked } = setUp();
    watch.stop();
    clock.advance(60_000);
    expect([hung, asked()]).toEqual([[], 1]);
  });
});
