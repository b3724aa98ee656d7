import type { Clock } from '../src/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs the timers that fall due, in their order. */
  advance(ms: number): void;
}

/** A clock that stands still until it is told to move. */
export function manualClock(startMs = Date.UTC(2030, 0, 1)): ManualClock {
  let elapsedMs = 0;
  let timers: { dueMs: number; callback: () => void }[] = [];
  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    setTimer(delayMs, callback) {
      const timer = { dueMs: elapsedMs + delayMs, callback };
      timers.push(timer);
      return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
    },
    advance(ms) {
      const endMs = elapsedMs + ms;
      for (;;) {
        const due = timers
          .filter((timer) => timer.dueMs <= endMs)
          .sort((a, b) => a.dueMs - b.dueMs)[0];
        if (due === undefined) break;
        timers = timers.filter((timer) => timer !== due);
        elapsedMs = Math.max(elapsedMs, due.dueMs);
        due.callback();
      }
      elapsedMs = endMs;
    },
  };
}
