import { systemClock, type Clock } from '@gateway/shared/clock';

export interface CountingClock extends Clock {
  /** The number of timers that have neither run nor been cancelled. */
  readonly pending: number;
}

/** The real clock, which also counts pending timers, to find leaked ones. */
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
