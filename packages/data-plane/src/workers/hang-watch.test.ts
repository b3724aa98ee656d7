import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { watchForHang } from './hang-watch.ts';

function setUp() {
  const clock = manualClock();
  const hung: number[] = [];
  let pings = 0;
  const watch = watchForHang({
    clock,
    timeoutMs: 30_000,
    ping: () => void (pings += 1),
    onHang: (silentMs) => void hung.push(silentMs),
  });
  return { clock, hung, watch, pings: () => pings };
}

describe('watching a process for a hang', () => {
  it('reports once that no ping was answered for the whole time', () => {
    const { clock, hung, pings } = setUp();
    clock.advance(29_999);
    expect(hung).toEqual([]);
    clock.advance(1);
    expect(hung).toEqual([30_000]);
    clock.advance(300_000);
    expect(hung).toEqual([30_000]);
    expect(pings()).toBe(6);
  });

  it('does not report a process that answers, however late', () => {
    const { clock, hung, watch } = setUp();
    for (let round = 0; round < 20; round += 1) {
      clock.advance(29_999);
      watch.answered();
    }
    expect(hung).toEqual([]);
  });

  it('does not count the time for which the machine was suspended', () => {
    const clock = manualClock();
    const hung: number[] = [];
    let skippedMs = 0;
    const watch = watchForHang({
      clock: { ...clock, monotonicMs: () => clock.monotonicMs() + skippedMs },
      timeoutMs: 30_000,
      ping: () => undefined,
      onHang: (silentMs) => void hung.push(silentMs),
    });
    skippedMs = 3_600_000;
    clock.advance(5000);
    expect(hung).toEqual([]);
    watch.answered();
    clock.advance(29_999);
    expect(hung).toEqual([]);
  });

  it('sends no ping after it was stopped', () => {
    const { clock, hung, watch, pings } = setUp();
    watch.stop();
    clock.advance(60_000);
    expect([hung, pings()]).toEqual([[], 1]);
  });
});
