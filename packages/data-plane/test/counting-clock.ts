import { systemClock, type Clock } from '@gateway/shared/clock';

export interface CountingClock extends Clock {
  /** Timers that are set and have neither run nor been cancelled. */
  readonly pending: number;
}

/** The real clock, which also tells what still waits for it: a timer that is left over is a leak. */
export function countingClock(): CountingClock {
  const pending = new Set<object>();
  return {
    ...systemClock,
    get pending() {
      return pending.size;
    },
    setTimer(delayMs, callback) {
      const mark = {};
      pending.add(mark);
      const timer = systemClock.setTimer(delayMs, () => {
        pending.delete(mark);
        callback();
      });
      return {
        cancel() {
          pending.delete(mark);
          timer.cancel();
        },
      };
    },
  };
}
