import { KEPT_MS } from '@gateway/http/message/repeated-fields';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { withCoarseTimers } from '../src/timers/coarse-timers.ts';

export interface CountingClock extends Clock {
  /** The number of timers that have neither run nor been cancelled. */
  readonly pending: number;
}

/**
 * The clock of a data plane, which also counts pending timers, to find leaked ones. The timers that forget header blocks do not
 * count: they run for ten seconds after any request.
 */
export function countingClock(): CountingClock {
  const clock = withCoarseTimers(systemClock, 5);
  const pending = new Set<object>();
  return {
    ...clock,
    get pending() {
      return pending.size;
    },
    setTimer(delayMs, callback) {
      if (delayMs === KEPT_MS) return clock.setTimer(delayMs, callback);
      const mark = {};
      pending.add(mark);
      const timer = clock.setTimer(delayMs, () => {
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
