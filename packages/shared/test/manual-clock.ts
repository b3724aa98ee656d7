import type { Clock } from '../src/clock.ts';

export interface ManualClock extends Clock {
  /** Advances time and runs the timers that become due, in order. */
  advance(ms: number): void;
}

/** A clock that only moves when it is advanced. */
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
