import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { TimeAccount } from '../request/time-account.ts';
import { StandingClock } from './standing-clock.ts';

const TIMEOUT_MS = 1000;

/** Runs a timer of `TIMEOUT_MS` as an attempt does. */
function setUp() {
  const clock = manualClock();
  const times = new TimeAccount(clock.monotonicMs());
  times.enter('upstream', clock.monotonicMs());
  const standing = new StandingClock(times);
  const run = { endedMs: undefined as number | undefined, timers: 0 };
  const set = (delayMs: number) => {
    run.timers += 1;
    clock.setTimer(delayMs, () => {
      const nowMs = clock.monotonicMs();
      if (!standing.hasTimeLeft(nowMs, set)) run.endedMs = nowMs;
    });
  };
  set(TIMEOUT_MS);
  return { clock, times, run };
}

it('ends after its time without the time in which the caller is awaited, however often that changes', () => {
  const step = fc.record({
    ms: fc.oneof(fc.nat(20), fc.nat(3000)),
    awaits: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { clock, times, run } = setUp();
      let spentMs = 0;
      for (const { ms, awaits } of steps) {
        times.awaitUpload(awaits, clock.monotonicMs());
        const startMs = clock.monotonicMs();
        clock.advance(ms);
        const leftMs = TIMEOUT_MS - spentMs;
        if (!awaits && ms >= leftMs) {
          expect(run.endedMs).toBe(startMs + leftMs);
          return;
        }
        expect(run.endedMs).toBeUndefined();
        if (!awaits) spentMs += ms;
      }
      // Each change sets at most one timer.
      expect(run.timers).toBeLessThanOrEqual(steps.length * 2 + 1);
      times.awaitUpload(false, clock.monotonicMs());
      const startMs = clock.monotonicMs();
      clock.advance(TIMEOUT_MS);
      expect(run.endedMs).toBe(startMs + TIMEOUT_MS - spentMs);
    }),
    { numRuns: 1000 },
  );
});

it('sets no timer while the caller is awaited and its time is nearly up', () => {
  const { clock, times, run } = setUp();
  clock.advance(TIMEOUT_MS - 1);
  times.awaitUpload(true, clock.monotonicMs());
  clock.advance(1_000_000);
  expect(run).toEqual({ endedMs: undefined, timers: 1 });
});
